// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare/round_rows.h"

#include <algorithm>

#include "base/blocks/panel_words.h"
#include "codegen/analysis/padding.h"
#include "codegen/prepare/operand_access.h"

namespace tenon::codegen {

namespace {

constexpr double kLargestCode = 127;
/// The largest magnitude of neighbours whose quotient by it stays finite, and far above denormal numbers.
constexpr double kLeastMagnitude = 1e-30;
/// Of bf16, which has no scales: a divisor of all blocks.
constexpr int kRunOfPairs = 32;

/// Builds the nests of one operand, whose places are [rows..., run, step].
class Rounding {
 public:
  Rounding(const Group& product, const Tiling& tiling, int run, Plan& plan)
      : nest_(product.nests[0]),
        roles_(tiling.roles),
        run_(run),
        plan_(plan),
        axes_(axes_of(roles_.rows)),
        depth_(roles_.depth[0].axes[0]) {
    for (const int x : axes_) rows_.push_back(nest_.axes[x].extent);
  }

  /// Numbers of bf16.
  std::vector<Nest> to_bf16(RoundedRows& out) {
    out.values = add(DType::bf16, nest_.axes[depth_].extent);
    Nest map = loops(true, ops::Axis::Kind::parallel);
    const Expr value = element(map);
    store(map, out.values, cast(value, DType::bf16), step_index());
    return {std::move(map)};
  }

  std::vector<Nest> to_bytes(RoundedRows& out) {
    const Dim depth = nest_.axes[depth_].extent, runs = floor_div(depth, Dim(run_));
    out.run = run_;
    out.values = add(DType::i8, depth);
    out.scales = add(DType::f32, runs);
    out.sums = add(DType::f32, runs);
    const ArrayId largest = add(DType::f32, runs), factors = add(DType::f32, runs);
    const auto f32 = [](double number) { return Expr::constant(DType::f32, number); };

    Nest magnitude = loops(true, ops::Axis::Kind::reduced);
    store(magnitude, largest, abs(element(magnitude)), run_index(), ops::Combine::max);

    Nest scale = loops(false, ops::Axis::Kind::parallel);
    const Expr m = load(scale, largest, run_index());
    store(scale, out.scales, m * f32(1 / kLargestCode), run_index());
    store(scale, factors, select(m < f32(kLeastMagnitude), f32(0), f32(kLargestCode) / m), run_index());

    Nest code = loops(true, ops::Axis::Kind::parallel);
    const Expr x = element(code), factor = load(code, factors, run_index());
    store(code, out.values, cast(unary(ExprOp::round_even, x * factor), DType::i8), step_index());

    Nest sum = loops(true, ops::Axis::Kind::reduced);
    const Expr c = cast(load(sum, out.values, step_index()), DType::f32), s = load(sum, out.scales, run_index());
    store(sum, out.sums, c * s, run_index(), ops::Combine::sum);
    return {std::move(magnitude), std::move(scale), std::move(code), std::move(sum)};
  }

  /// Loops over all elements, which read them and store nothing.
  Nest elements() {
    Nest out = loops(true, ops::Axis::Kind::parallel);
    element(out);
    return out;
  }

  /// Axes that all nests share.
  int outer() const { return static_cast<int>(axes_.size()) + 1; }

 private:
  ArrayId add(DType dtype, Dim last) {
    DimList shape = rows_;
    shape.push_back(last);
    return add_temporary(plan_, dtype, shape);
  }

  /// Over rows and runs, and the steps of a run where `steps`.
  Nest loops(bool steps, ops::Axis::Kind kind) {
    Nest out;
    for (const Dim d : rows_) out.axes.push_back({ops::Axis::Kind::parallel, d});
    out.axes.push_back({ops::Axis::Kind::parallel, floor_div(nest_.axes[depth_].extent, Dim(run_))});
    if (steps) out.axes.push_back({kind, run_});
    out.nodes = nest_.nodes;
    return out;
  }

  std::vector<Expr> row_index() const {
    std::vector<Expr> out;
    for (size_t k = 0; k < axes_.size(); ++k) out.push_back(Expr::axis(static_cast<int>(k)));
    return out;
  }
  std::vector<Expr> run_index() const {
    std::vector<Expr> out = row_index();
    out.push_back(Expr::axis(outer() - 1));
    return out;
  }
  /// The place on the depth.
  Expr step() const { return simplify(Expr::axis(outer() - 1) * Expr::integer(DType::i64, run_) + Expr::axis(outer())); }
  std::vector<Expr> step_index() const {
    std::vector<Expr> out = row_index();
    out.push_back(step());
    return out;
  }

  /// The operand at a step, whose loads are added to the nest.
  Expr element(Nest& to) const {
    std::vector<Expr> at(nest_.axes.size(), zero_index());
    for (size_t k = 0; k < axes_.size(); ++k) at[axes_[k]] = Expr::axis(static_cast<int>(k));
    at[depth_] = step();
    return moved_operand(
        nest_, roles_.rows_operand, [&](const ExprNode& n) { return n.op == ExprOp::axis ? at[n.index] : Expr(); }, Expr(), to);
  }

  Expr load(Nest& to, ArrayId array, std::vector<Expr> index) const {
    NestAccess read;
    read.array = array;
    read.dtype = plan_.arrays[array].dtype;
    read.index = std::move(index);
    to.accesses.push_back(std::move(read));
    return Expr::input(static_cast<int>(to.accesses.size()) - 1, plan_.arrays[array].dtype);
  }

  void store(Nest& to, ArrayId array, Expr value, std::vector<Expr> index, ops::Combine combine = ops::Combine::none) const {
    NestOutput out;
    out.array = array;
    out.dtype = plan_.arrays[array].dtype;
    out.value = std::move(value);
    out.combine = combine;
    out.index = std::move(index);
    to.outputs.push_back(std::move(out));
  }

  const Nest& nest_;
  const Contraction& roles_;
  int run_;
  Plan& plan_;
  std::vector<int> axes_;  ///< of the product's nest, that number its rows
  int depth_;
  DimList rows_;
};

/// Whether both read the same elements at each step.
bool reads_the_same(const Nest& a, const Nest& b) {
  const auto same_axis = [](const ops::Axis& x, const ops::Axis& y) { return x.extent == y.extent; };
  const auto equal = [](const Expr& x, const Expr& y) { return bool(x) == bool(y) && (!x || same(x, y)); };
  const auto same_read = [&](const NestAccess& x, const NestAccess& y) {
    return x.array == y.array && std::ranges::equal(x.index, y.index, equal) && equal(x.flat, y.flat) && equal(x.within, y.within) &&
           equal(x.fill, y.fill);
  };
  return std::ranges::equal(a.axes, b.axes, same_axis) && std::ranges::equal(a.accesses, b.accesses, same_read);
}

}  // namespace

RoundedRows round_rows(const Group& product, const Tiling& tiling, const BlockFormat& format, Preparation& to) {
  TENON_ASSERT(tiling.roles.rows_operand.is_load());  // so that equal loads are equal operands
  const bool bytes = tiling.roles.activations == Activations::i8;
  Rounding rounding(product, tiling, bytes ? rounded_run(format) : kRunOfPairs, to.plan);
  RoundedOperand rounded{.elements = rounding.elements(), .run = bytes ? rounded_run(format) : 0, .rows = {}};
  for (const RoundedOperand& known : to.rounded)
    if (known.run == rounded.run && reads_the_same(known.elements, rounded.elements)) return known.rows;
  Group loops{.payload = LoopGroup{.auxiliary = true}, .node = product.node};
  loops.nests = bytes ? rounding.to_bytes(rounded.rows) : rounding.to_bf16(rounded.rows);
  if (loops.nests.size() > 1) loops.as<LoopGroup>().outer = rounding.outer();
  prepare_loops(loops, default_loop_tactic(), to);
  to.rounded.push_back(rounded);
  return rounded.rows;
}

}  // namespace tenon::codegen
