// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/fold_zero_points.h"

#include <algorithm>
#include <map>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/integer_factors.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/padding.h"
#include "codegen/analysis/resolve_reshapes.h"

namespace tenon::codegen {

namespace {

/// Added to elements of i8 to store them as u8.
constexpr int64_t kUnsignedShift = 128;

/// Expresses an index over the nest's axes by the axes of a map over the nest's result; null where that is not possible.
Expr over_result_axes(const Expr& index, const NestOutput& result) {
  if (!mentions(index, ExprOp::axis)) return index;
  for (size_t d = 0; d < result.index.size(); ++d)
    if (same(result.index[d], index)) return Expr::axis(static_cast<int>(d));
  return {};
}

/// Rewrites the groups in order. Each array of i8 is copied to u8 once.
class ZeroPoints {
 public:
  explicit ZeroPoints(Plan& plan) : plan_(plan) {}

  void run() {
    for (Group& g : plan_.groups) {
      std::vector<Group> made = replacement(g);
      if (made.empty()) made.push_back(std::move(g));
      std::ranges::move(made, std::back_inserter(groups_));
    }
    plan_.groups = std::move(groups_);
  }

 private:
  /// The groups that replace `g`; empty: it stays.
  std::vector<Group> replacement(const Group& g) {
    if (g.kind() != GroupKind::nests || g.nests.size() != 1) return {};
    const auto factors = integer_factors_of(g.nests[0]);
    if (!factors) return {};
    const bool second = static_cast<bool>(plan_.arrays[g.nests[0].accesses[(*factors)[1].data].array].constant);
    return split(g, (*factors)[second ? 0 : 1], (*factors)[second ? 1 : 0]);
  }

  /// Splits the sum into plain products and a map that subtracts zero points. a: the factor that is no constant; b: the constant one.
  std::vector<Group> split(const Group& g, const IntegerFactor& a, const IntegerFactor& b) {
    const Nest& nest = g.nests[0];
    if (plan_.arrays[nest.accesses[a.data].array].constant) return {};
    const auto zero = zero_of(a, nest);
    if (!zero) return {};
    const auto weights = integer_weights_of(b, nest, plan_);
    if (!weights) return {};
    const size_t arrays = plan_.arrays.size();
    const auto copies = copies_;
    std::vector<Group> out;
    std::optional<Nest> sum = plain_sum(nest, a, b, *zero, *weights, out), map;
    if (sum && !is_absent(*zero)) {
      map = subtract_zero_points(nest, a, *zero, *weights);
      if (map) sum->outputs[0].array = map->accesses[0].array;
    }
    if (!sum || (!is_absent(*zero) && !map) || !contraction_of(*sum, plan_)) {
      plan_.arrays.resize(arrays);
      copies_ = copies;
      return {};
    }
    push(out, *std::move(sum), g.node, false);
    if (map) push(out, std::move(*map), g.node, true);
    return out;
  }

  /// The first node; none for a plan that was parsed from text, whose nests have no nodes.
  static ir::NodeId first_of(const std::vector<ir::NodeId>& nodes) { return nodes.empty() ? ir::NodeId() : nodes[0]; }

  static void push(std::vector<Group>& to, Nest nest, ir::NodeId node, bool auxiliary) {
    Group g;
    g.node = node;
    g.as<LoopGroup>().auxiliary = auxiliary;
    g.nests.push_back(std::move(nest));
    to.push_back(std::move(g));
  }

  /// The zero point of `a` as u8: `number`, or else a loaded value, plus `shift`.
  struct ZeroPoint {
    std::optional<int64_t> number;
    int64_t shift = 0;
  };
  static bool is_absent(const ZeroPoint& zero) { return zero.number == 0; }

  /// The zero point of factor `a`; nullopt where its access is not supported.
  std::optional<ZeroPoint> zero_of(const IntegerFactor& a, const Nest& nest) const {
    const NestAccess& data = nest.accesses[a.data];
    ZeroPoint out;
    if (data.dtype == DType::i8) out.shift = kUnsignedShift;
    if (a.zero < 0) {
      out.number = out.shift;
      return out;
    }
    const NestAccess& access = nest.accesses[a.zero];
    if (access.within || access.flat) return std::nullopt;
    const ir::ConstantRef constant = plan_.arrays[access.array].constant;
    const Tensor* tensor = constant && constant->count() == 1 ? constant->tensor() : nullptr;
    if (tensor) out.number = tensor->integer(0) + out.shift;
    const bool one = product(plan_.arrays[access.array].shape) == Dim(1);
    return out.number || !data.within || one ? std::optional(out) : std::nullopt;
  }

  /// The sum of plain products u8 x i8; nullopt where the image cannot be copied.
  std::optional<Nest> plain_sum(const Nest& nest, const IntegerFactor& a, const IntegerFactor& b, const ZeroPoint& zero,
                                const IntegerWeights& weights, std::vector<Group>& before) {
    Nest sum = nest;
    NestAccess data = nest.accesses[a.data], kernel = nest.accesses[b.data];
    if (data.dtype == DType::i8) data.array = as_unsigned(data.array, nest.nodes, before);
    data.dtype = DType::u8;
    if (data.within && zero.number) data.fill = Expr::integer(DType::u8, *zero.number);
    else if (data.within && !pad_with_zero_point(data, nest, nest.accesses[a.zero], zero, before)) return std::nullopt;
    kernel.array = add_constant(weights.shifted);
    kernel.dtype = DType::i8;
    sum.accesses = {std::move(data), std::move(kernel)};
    sum.outputs[0].value = cast(Expr::input(0, DType::u8), DType::i32) * cast(Expr::input(1, DType::i8), DType::i32);
    return sum;
  }

  /// Copies the image with padding of a zero point that is known only at run time.
  bool pad_with_zero_point(NestAccess& data, const Nest& nest, const NestAccess& zero, const ZeroPoint& zero_point,
                           std::vector<Group>& before) {
    data.fill = Expr::integer(DType::u8, 0);
    std::vector<Nest> copies;
    if (!pad_operand(data, nest, plan_, copies) || copies.size() != 2) return false;
    NestAccess load = zero;
    for (Expr& e : load.index) e = Expr::integer(DType::i64, 0);
    const Expr number = cast(Expr::input(0, load.dtype), DType::i32) + Expr::integer(DType::i32, zero_point.shift);
    copies[0].accesses = {std::move(load)};
    copies[0].outputs[0].value = simplify(cast(number, DType::u8));
    for (Nest& copy : copies) push(before, std::move(copy), first_of(nest.nodes), true);
    return true;
  }

  ArrayId add_constant(const ir::ConstantRef& constant) {
    Array a;
    a.dtype = constant->dtype;
    a.shape.assign(constant->shape.begin(), constant->shape.end());
    a.strides = row_major(a.shape);
    a.constant = constant;
    plan_.arrays.push_back(std::move(a));
    return static_cast<ArrayId>(plan_.arrays.size() - 1);
  }

  /// The array of i8 as u8, with 128 added to its elements.
  ArrayId as_unsigned(ArrayId from, const std::vector<ir::NodeId>& nodes, std::vector<Group>& before) {
    const auto [known, is_new] = copies_.try_emplace(from, -1);
    if (!is_new) return known->second;
    const DimList shape = plan_.arrays[from].shape;
    known->second = add_temporary(plan_, DType::u8, shape);
    Nest copy = map_over(shape);
    copy.accesses.push_back({from, DType::i8, axes_of(shape), {}, {}, {}});
    const Expr wide = cast(Expr::input(0, DType::i8), DType::i32) + Expr::integer(DType::i32, kUnsignedShift);
    copy.outputs.push_back({known->second, DType::u8, cast(wide, DType::u8), ops::Combine::none, axes_of(shape), {}, {}});
    copy.nodes = nodes;
    resolve_reshapes(copy.accesses[0], copy, plan_);
    push(before, std::move(copy), first_of(nodes), true);
    return known->second;
  }

  static Nest map_over(const DimList& shape) {
    Nest map;
    for (const Dim d : shape) map.axes.push_back({ops::Axis::Kind::parallel, d});
    return map;
  }
  static std::vector<Expr> axes_of(const DimList& shape) {
    std::vector<Expr> out;
    for (size_t d = 0; d < shape.size(); ++d) out.push_back(Expr::axis(static_cast<int>(d)));
    return out;
  }

  /// The map that reads the plain sum, subtracts the zero points, and writes the nest's result; nullopt where an index cannot be expressed
  /// by the result's axes.
  std::optional<Nest> subtract_zero_points(const Nest& nest, const IntegerFactor& a, const ZeroPoint& zero, const IntegerWeights& weights) {
    const NestOutput& result = nest.outputs[0];
    const DimList shape = plan_.arrays[result.array].shape;
    NestAccess sums{-1, DType::i32, indices_over_result(weights.index, result), {}, {}, {}};
    if (sums.index.size() != weights.index.size()) return std::nullopt;
    Nest map = map_over(shape);
    map.nodes = nest.nodes;
    map.accesses.push_back({add_temporary(plan_, DType::i32, shape), DType::i32, axes_of(shape), {}, {}, {}});
    sums.array = add_constant(zero.number ? scaled(*weights.sums, *zero.number) : weights.sums);
    map.accesses.push_back(std::move(sums));
    Expr correction = Expr::input(1, DType::i32);
    if (!zero.number) {
      NestAccess load = nest.accesses[a.zero];
      load.index = indices_over_result(load.index, result);
      if (load.index.size() != nest.accesses[a.zero].index.size()) return std::nullopt;
      correction = (cast(Expr::input(2, load.dtype), DType::i32) + Expr::integer(DType::i32, zero.shift)) * correction;
      map.accesses.push_back(std::move(load));
    }
    map.outputs.push_back(
        {result.array, DType::i32, simplify(Expr::input(0, DType::i32) - correction), ops::Combine::none, axes_of(shape), {}, {}});
    return map;
  }

  /// The index over the axes of a map over the result; shorter than `index` where over_result_axes fails.
  static std::vector<Expr> indices_over_result(const std::vector<Expr>& index, const NestOutput& result) {
    std::vector<Expr> out;
    for (const Expr& e : index) {
      out.push_back(over_result_axes(e, result));
      if (!out.back()) return {};
    }
    return out;
  }

  static ir::ConstantRef scaled(const ir::Constant& sums, int64_t factor) {
    Tensor out = *Tensor::make(DType::i32, sums.shape);
    const Tensor& from = *sums.tensor();
    for (int64_t k = 0; k < from.count(); ++k) out.set_integer(k, from.integer(k) * factor);
    return ir::constant_of(std::move(out));
  }

  Plan& plan_;
  std::vector<Group> groups_;
  std::map<ArrayId, ArrayId> copies_;
};

}  // namespace

void fold_zero_points(Plan& plan) { ZeroPoints(plan).run(); }

}  // namespace tenon::codegen
