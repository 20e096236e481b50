// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/work.h"

#include "codegen/contract_cost.h"
#include "codegen/loops/attention.h"
#include "codegen/loops/inline.h"
#include "codegen/loops/places.h"

namespace tenon::codegen {

namespace {

/// Numbers in place of symbols, and whether all had one.
struct Sizes {
  const std::function<Dim(const DimNode&)>& value_of;
  bool known = true;

  void settle(Dim& size) {
    size = substitute(size, value_of);
    known &= size.is_number();
  }
};

Dim extents(const std::vector<JointAxis>& axes) {
  Dim out = 1;
  for (const JointAxis& a : axes) out = out * a.extent;
  return out;
}

bool walked_by_one(const std::optional<Affine>& place, int axis) { return place && place->coefficients[axis] == Dim(1); }
bool stands(const std::optional<Affine>& place, int axis) { return place && place->coefficients[axis] == Dim(0); }

/// Shuffles of a register of a square that is transposed.
constexpr double kTurn = 4;

}  // namespace

ProductWork product_work(const Contraction& roles, Tile tile, const Target& target) {
  ProductWork out{.lanes = extents(roles.lanes), .depth = extents(roles.depth), .tile = tile};
  const bool several = lines_of(tile, roles.rows) > 1;
  if (several) out.line = roles.rows.back().extent;
  out.times = extents(roles.batch);
  for (size_t k = 0; k < roles.rows.size(); ++k) {
    Dim& of = k + 1 == roles.rows.size() || (several && k + 2 == roles.rows.size()) ? out.rows : out.times;
    of = of * roles.rows[k].extent;
  }
  out.form = roles.group == 1 ? target.multiply_add(roles.sum, roles.sum, roles.sum)
                              : target.multiply_add(roles.rows_operand.value.dtype(), roles.lanes_operand.value.dtype(), roles.sum);
  if (!out.form) out.form = &target.of_f32();
  return out;
}

Work attention_work(const Nest& nest, Tile tile, const Target& target) {
  const auto extent = [&](int axis) { return nest.axes[axis].extent; };
  const Dim heads = extent(kBatch) * extent(kKeyHead) * extent(kSharing);
  const MultiplyAdd* form = &target.of_f32();
  constexpr double kOfSoftmax = 12, kLoadsOfPair = 12;  // maximum, scale, total, and the places between them: Zen 5, 128 keys of 64
  Work out;
  // Scores have keys along the rows of a tile, and queries along its lanes.
  out.products = {{heads, extent(kKey), extent(kQuery), extent(kHeadSize), tile, form},
                  {heads, extent(kQuery), extent(kValueSize), extent(kKey), tile, form}};
  const Dim panel = tile.vectors * target.lanes(), queries = ceil_div(extent(kQuery), panel) * panel;
  out.loops = {{.points = heads * extent(kKey) * queries,
                .along = queries,
                .operations = static_cast<double>(cost_of(nest).arithmetic) + kOfSoftmax,
                .functions = 1,
                .loads = kLoadsOfPair}};
  return out;
}

LoopWork loop_work(const Nest& nest, int vector, int turned, const Plan& plan) {
  LoopWork out;
  for (const ops::Axis& a : nest.axes) out.points = out.points * a.extent;
  const BodyCost cost = cost_of(nest);
  out.operations = cost.arithmetic;
  out.functions = cost.transcendental;
  const int axes = static_cast<int>(nest.axes.size());
  if (vector >= 0) {
    out.along = nest.axes[vector].extent;
    out.chained = nest.axes[vector].kind != ops::Axis::Kind::parallel;
  }
  const auto place = [&](const Expr& flat) {
    const auto at = affine_of(flat, axes);
    const bool by_squares = turned >= 0 && walked_by_one(at, turned) && !walked_by_one(at, vector) && !stands(at, vector);
    if (by_squares) out.operations += kTurn;
    ++(by_squares || vector < 0 || walked_by_one(at, vector) || stands(at, vector) ? out.loads : out.single);
  };
  for (const NestAccess& a : nest.accesses) place(flat_of(a, plan));
  for (const NestOutput& o : nest.outputs)
    if (o.combine == ops::Combine::none) place(flat_of(o, plan));
    else ++out.operations;
  return out;
}

LoopWork epilogue_work(const Epilogue& epilogue, Dim lanes) {
  LoopWork out{.along = lanes, .enters = false};
  for (const ops::Axis& a : epilogue.map.axes) out.points = out.points * a.extent;
  const BodyCost cost = cost_of(epilogue.map);
  out.operations = cost.arithmetic;
  out.functions = cost.transcendental;
  out.loads = static_cast<double>(epilogue.map.accesses.size() - 1 + epilogue.map.outputs.size());  // the sum is in a register
  return out;
}

LoopWork window_work(const Nest& nest, int channels) {
  constexpr double kLoadsOfProduct = 0.7;  // Zen 5, one core, 3x3 of 32 to 576 channels
  LoopWork out{.along = nest.axes[channels].extent, .operations = 1, .loads = kLoadsOfProduct, .enters = false};
  for (const ops::Axis& a : nest.axes) out.points = out.points * a.extent;
  return out;
}

DType factors_of(const Work& work) {
  if (work.products.empty()) return DType::f32;
  const MultiplyAdd& form = *work.products[0].form;
  if (form.operand == DType::bf16) return DType::bf16;
  return bits_of(form.operand) == 8 ? DType::i8 : DType::f32;
}

std::optional<Work> with_sizes(const Work& work, const std::function<Dim(const DimNode& symbol)>& value_of) {
  Work out = work;
  Sizes sizes{value_of};
  for (ProductWork& p : out.products)
    for (Dim* size : {&p.times, &p.rows, &p.lanes, &p.depth, &p.left_out, &p.line}) sizes.settle(*size);
  for (LoopWork& l : out.loops)
    for (Dim* size : {&l.points, &l.along}) sizes.settle(*size);
  return sizes.known ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace tenon::codegen
