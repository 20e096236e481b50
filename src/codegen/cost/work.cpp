// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/work.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "codegen/analysis/attention.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"
#include "codegen/cost/contract_cost.h"

namespace tenon::codegen {

namespace {

/// Replaces symbols by numbers.
struct Sizes {
  const std::function<Dim(const DimNode&)>& value_of;
  bool known = true;  ///< all sizes so far became numbers of at least 0

  void substitute_into(Dim& size) {
    size = substitute(size, value_of);
    known = known && size.is_number() && size.value() >= 0;
  }
};

constexpr int kNoAxis = -1;

bool is_contiguous(const std::optional<Affine>& place, int axis) { return place && place->coefficients[axis] == Dim(1); }
bool is_invariant(const std::optional<Affine>& place, int axis) { return place && place->coefficients[axis] == Dim(0); }

/// Shuffles for one register of a square that is transposed in registers.
constexpr double kTransposeCost = 4;
/// Cost in additions, of which two start in a cycle (Zen 5): of a division or a root, and of a minimum whose operands may both be NaN.
constexpr double kDivisionCost = 5, kMinimumCost = 3;
/// Latency in additions: cycles from one step of a reduction to the next, times two.
constexpr double kAdditionLatency = 4, kMultiplyAddLatency = 8, kMinimumLatency = 8;
/// Cost of the bounds check of a load that is computed at each point, in additions.
constexpr double kMaskCost = 3;

/// What one point of a nest costs; see LoopWork. Operations whose result is the same in all lanes are not counted.
class PointCost {
 public:
  PointCost(const Nest& nest, int vector, const Plan& plan) : vector_(vector) {
    const int axes = static_cast<int>(nest.axes.size());
    for (const NestAccess& a : nest.accesses)
      is_invariant_.push_back(vector >= 0 && is_invariant(affine_of(flat_of(a, plan), axes), vector));
    for (const NestOutput& o : nest.outputs) add(o);
  }

  double operations = 0, transcendentals = 0, exponentials = 0;
  double sum_latency = 0;  ///< of the slowest sum, see LoopWork

 private:
  /// Whether lanes have values of their own.
  bool varies(const Expr& e) {
    if (!e || e.op() == ExprOp::constant || e.op() == ExprOp::dim) return false;
    if (vector_ < 0) return true;
    if (const auto known = varies_.find(e.get()); known != varies_.end()) return known->second;
    bool out = false;
    if (e.op() == ExprOp::input) out = !is_invariant_[static_cast<size_t>(e->index)];
    else if (e.op() == ExprOp::axis) out = e->index == vector_;
    else
      for (const Expr& a : e.args()) {
        const bool is_varying = varies(a);
        out = out || is_varying;
      }
    return varies_[e.get()] = out;
  }

  void add(const NestOutput& o) {
    count(o.value);
    if (o.combine == ops::Combine::none) return;
    const bool sums = o.combine == ops::Combine::sum, multiply_add = sums && o.value && o.value.op() == ExprOp::mul;
    if (!multiply_add) operations += sums ? 1 : kMinimumCost;
    sum_latency = std::max(sum_latency, multiply_add ? kMultiplyAddLatency : sums ? kAdditionLatency : kMinimumLatency);
  }

  void count(const Expr& e) {
    if (!e || e.args().empty() || !counted_.insert(e.get()).second) return;
    for (const Expr& a : e.args()) count(a);
    if (!varies(e)) return;
    switch (e.op()) {
      case ExprOp::exp: ++exponentials; return;
      case ExprOp::div:
      case ExprOp::reciprocal:
      case ExprOp::sqrt: operations += kDivisionCost; return;
      case ExprOp::min:
      case ExprOp::max: operations += std::ranges::any_of(e.args(), is_constant) ? 1 : kMinimumCost; return;
      default: is_transcendental(e.op()) ? ++transcendentals : ++operations;
    }
  }

  static bool is_constant(const Expr& e) { return e.op() == ExprOp::constant; }

  const int vector_;
  std::vector<bool> is_invariant_;  ///< of each access: all lanes load one element
  std::unordered_map<const ExprNode*, bool> varies_;
  std::unordered_set<const ExprNode*> counted_;
};

/// Sets the counts of loops that are entered: vector_loops, inner_loops, lane_reductions.
void count_loops(LoopWork& out, const Nest& nest, int vector, int64_t unrolled) {
  const auto parallel = [](const ops::Axis& a) { return a.kind == ops::Axis::Kind::parallel; };
  Dim reduced = 1, innermost = 1;
  bool is_unrolled = true;
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x) {
    const ops::Axis& a = nest.axes[x];
    if (parallel(a) || x == vector) continue;
    reduced = reduced * a.extent;
    innermost = a.extent;
    is_unrolled = is_unrolled && a.extent.number().value_or(unrolled + 1) <= unrolled;
  }
  const auto quotient = [](Dim all, Dim each) { return floor_div(all, max(Dim(1), each)); };
  out.lane_extent = nest.axes[vector].extent;
  const Dim vector_loops = quotient(out.points, out.lane_extent), results = quotient(vector_loops, reduced);
  if (parallel(nest.axes[vector])) {
    out.vector_loops = results;
    if (!is_unrolled) out.inner_loops = quotient(reduced, innermost);
  } else {
    out.vector_loops = vector_loops;
    out.lane_reductions = results * Dim(static_cast<int64_t>(nest.outputs.size()));
  }
}

}  // namespace

ProductWork product_work(const Contraction& roles, Tile tile, const Target& target) {
  ProductWork out{.lanes = extent_of(roles.lanes), .depth = extent_of(roles.depth), .tile = tile};
  const bool several = lines_of(tile, roles.rows) > 1;
  if (several) out.rows_per_line = roles.rows.back().extent;
  out.times = extent_of(roles.batch);
  for (size_t k = 0; k < roles.rows.size(); ++k) {
    Dim& of = k + 1 == roles.rows.size() || (several && k + 2 == roles.rows.size()) ? out.rows : out.times;
    of = of * roles.rows[k].extent;
  }
  if (roles.activations != Activations::f32) {
    out.instruction = roles.activations == Activations::i8 ? target.multiply_add(DType::u8, DType::i8, DType::i32)
                                                           : target.multiply_add(DType::bf16, DType::bf16, DType::f32);
    return out;
  }
  out.instruction = roles.group == 1 ? target.multiply_add(roles.sum, roles.sum, roles.sum)
                                     : target.multiply_add(roles.rows_operand.value.dtype(), roles.lanes_operand.value.dtype(), roles.sum);
  if (!out.instruction) out.instruction = &target.of_f32();
  return out;
}

Work attention_work(const Nest& nest, Tile tile, const Target& target) {
  const auto extent = [&](int axis) { return nest.axes[axis].extent; };
  const Dim heads = extent(kBatch) * extent(kKeyHead) * extent(kSharing);
  const MultiplyAdd* instruction = &target.of_f32();
  constexpr double kOfSoftmax = 12, kLoadsOfPair = 12;  // maximum, scale, total, and the places between them: Zen 5, 128 keys of 64
  Work out;
  // Scores have keys along the rows of a tile, and queries along its lanes.
  out.products = {{heads, extent(kKey), extent(kQuery), extent(kHeadSize), tile, instruction},
                  {heads, extent(kQuery), extent(kValueSize), extent(kKey), tile, instruction}};
  const Dim panel = tile.vectors * target.lanes(), queries = ceil_div(extent(kQuery), panel) * panel;
  out.loops = {{.points = heads * extent(kKey) * queries,
                .lane_extent = queries,
                .operations = static_cast<double>(cost_of(nest).arithmetic) + kOfSoftmax,
                .transcendentals = 1,
                .loads = kLoadsOfPair,
                .vector_loops = heads * extent(kKey)}};
  return out;
}

Work few_queries_work(const Nest& nest, Dim used, int rows, int vectors, const Target& target) {
  const auto extent = [&](int axis) { return nest.axes[axis].extent; };
  const Dim heads = select(used, extent(kBatch) * extent(kKeyHead) * extent(kQuery), Dim(0)), keys = extent(kKey);
  const Dim chunks = ceil_div(extent(kSharing), Dim(rows));
  constexpr double kOfSoftmax = 12, kLoadsOfPair = 4;
  Work out;
  out.products = {{heads, extent(kSharing), keys, extent(kHeadSize), {rows, vectors}, &target.of_f32()},
                  {heads, extent(kSharing), extent(kValueSize), keys, {rows, vectors}, &target.of_f32()}};
  out.loops = {{.points = heads * extent(kSharing) * keys,
                .lane_extent = keys,
                .operations = static_cast<double>(cost_of(nest).arithmetic) + kOfSoftmax,
                .transcendentals = 1,
                .loads = kLoadsOfPair},
               // Keys are transposed in registers.
               {.points = heads * chunks * keys * extent(kHeadSize), .lane_extent = keys, .operations = kTransposeCost, .loads = 2}};
  return out;
}

LoopWork loop_work(const Nest& nest, int vector, int transposed, int sums, int64_t unrolled, const Plan& plan) {
  LoopWork out;
  for (const ops::Axis& a : nest.axes) out.points = out.points * a.extent;
  const PointCost body(nest, vector, plan);
  out.operations = body.operations, out.transcendentals = body.transcendentals, out.exponentials = body.exponentials;
  if (vector >= 0) {
    count_loops(out, nest, vector, unrolled);
    out.sum_latency = body.sum_latency / sums;
  }
  const int axes = static_cast<int>(nest.axes.size());
  const bool is_vector_innermost = vector >= 0 && vector + 1 == axes;
  const auto count_access = [&](const Expr& flat) {
    const auto at = affine_of(flat, axes);
    if (is_vector_innermost && is_invariant(at, vector)) return;  // loaded before the loop along the lanes
    const bool by_squares = transposed >= 0 && is_contiguous(at, transposed) && !is_contiguous(at, vector) && !is_invariant(at, vector);
    if (by_squares) out.operations += kTransposeCost;
    ++(by_squares || vector < 0 || is_contiguous(at, vector) || is_invariant(at, vector) ? out.loads : out.gathers);
  };
  for (const NestAccess& a : nest.accesses) {
    count_access(flat_of(a, plan));
    if (a.within && (!is_vector_innermost || mentions(a.within, ExprOp::axis, vector))) out.operations += kMaskCost;
  }
  for (const NestOutput& o : nest.outputs)
    if (o.combine == ops::Combine::none) count_access(flat_of(o, plan));
  return out;
}

LoopWork epilogue_work(const Epilogue& epilogue, Dim lanes, const Plan& plan) {
  LoopWork out{.lane_extent = lanes};
  for (const ops::Axis& a : epilogue.map.axes) out.points = out.points * a.extent;
  const PointCost body(epilogue.map, kNoAxis, plan);
  out.operations = body.operations, out.transcendentals = body.transcendentals, out.exponentials = body.exponentials;
  out.loads = static_cast<double>(epilogue.map.accesses.size() - 1 + epilogue.map.outputs.size());  // the sum is in a register
  return out;
}

LoopWork window_work(const Nest& nest, int channels, double loads) {
  LoopWork out{.lane_extent = nest.axes[channels].extent, .operations = 1, .loads = loads};
  for (const ops::Axis& a : nest.axes) out.points = out.points * a.extent;
  return out;
}

DType factor_dtype(const Work& work) {
  if (work.products.empty()) return DType::f32;
  const MultiplyAdd& instruction = *work.products[0].instruction;
  if (instruction.operand == DType::bf16) return DType::bf16;
  return bits_of(instruction.operand) == 8 ? DType::i8 : DType::f32;
}

std::optional<Work> with_sizes(const Work& work, const std::function<Dim(const DimNode& symbol)>& value_of) {
  Work out = work;
  Sizes sizes{value_of};
  for (ProductWork& p : out.products)
    for (Dim* size : {&p.times, &p.rows, &p.lanes, &p.depth, &p.skipped_products, &p.rows_per_line}) sizes.substitute_into(*size);
  for (LoopWork& l : out.loops)
    for (Dim* size : {&l.points, &l.lane_extent, &l.vector_loops, &l.inner_loops, &l.lane_reductions}) sizes.substitute_into(*size);
  for (AccessPattern& w : out.access_patterns)
    for (Dim* size : {&w.elements, &w.parts}) sizes.substitute_into(*size);
  return sizes.known ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace tenon::codegen
