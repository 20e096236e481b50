// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare/pack_operand.h"

#include <algorithm>

#include "base/checked.h"
#include "codegen/analysis/in_blocks.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/padding.h"
#include "codegen/prepare/operand_access.h"
#include "ir/uncast.h"

namespace tenon::codegen {

namespace {

int64_t count_of(const std::vector<int>& axes, const Nest& nest) {
  int64_t n = 1;
  for (int x : axes) n *= nest.axes[x].extent.value();
  return n;
}

/// The runs of the innermost depth filled up with zeros to whole groups: [batch, depth, lanes] of [batch, outer * run, lanes].
ir::ConstantRef with_whole_groups(const ir::ConstantRef& c, int64_t run, int64_t group) {
  const int64_t batch = c->shape[0], lanes = c->shape[2], outer = c->shape[1] / run, whole = round_up(run, group);
  if (outer == 1 || run == whole) return c;
  auto zeros = Tensor::make(c->dtype, {batch, outer, whole - run, lanes});
  if (!zeros) return nullptr;
  const ir::ConstantRef filled = ir::concat({ir::reshape(c, {batch, outer, run, lanes}), ir::constant_of(*std::move(zeros))}, 2);
  return ir::reshape(filled, {batch, outer * whole, lanes});
}

/// [batch, depth, lanes] with the registers of its columns in alternation.
ir::ConstantRef interleave_columns(const ir::ConstantRef& c, const LaneOrder& order) {
  if (order.columns == 1) return c;
  const int64_t blocks = c->shape[2] / (int64_t{order.columns} * order.lanes);
  const ir::ConstantRef registers = ir::reshape(c, {c->shape[0], c->shape[1], order.columns, blocks, order.lanes});
  return ir::reshape(ir::permute(registers, {0, 1, 3, 2, 4}), c->shape);
}

/// The lane at that number.
Expr lane_at(const Expr& number, Dim lanes, const LaneOrder& order) {
  if (order.columns == 1) return number;
  const auto integer = [](int64_t value) { return Expr::integer(DType::i64, value); };
  const Expr reg = number / integer(order.lanes), column = binary(ExprOp::mod, reg, integer(order.columns));
  const Expr inside = binary(ExprOp::mod, number, integer(order.lanes));
  return column * Expr::dim(floor_div(lanes, Dim(order.columns))) + reg / integer(order.columns) * integer(order.lanes) + inside;
}

/// The lanes operand as [batch, depth, lanes]; null where it is no constant that the nest walks densely.
ir::ConstantRef lanes_constant(const Nest& nest, const Contraction& roles, const LaneOrder& lane_order, const Plan& plan) {
  const NestAccess& access = nest.accesses[roles.lanes_operand.accesses[0]];
  const ir::ConstantRef source = constant_of(roles.lanes_operand, nest, plan);
  if (!source || access.within) return nullptr;
  auto place = affine_of(flat_of(access, plan), static_cast<int>(nest.axes.size()));
  const auto order = place ? dense_order(*place, nest, source->shape) : std::nullopt;
  if (!order) return nullptr;
  const std::vector<int> batch = axes_of(roles.batch), depth = axes_of(roles.depth), lanes = axes_of(roles.lanes);
  std::vector<int> wanted = batch;
  wanted.insert(wanted.end(), depth.begin(), depth.end());
  wanted.insert(wanted.end(), lanes.begin(), lanes.end());
  Sizes split;
  std::vector<int> permutation;
  for (int x : *order) split.push_back(nest.axes[x].extent.value());
  for (int x : wanted) permutation.push_back(static_cast<int>(std::find(order->begin(), order->end(), x) - order->begin()));
  if (permutation.size() != order->size()) return nullptr;
  ir::ConstantRef c = ir::permute(ir::reshape(source, split), permutation);
  c = ir::reshape(c, {count_of(batch, nest), count_of(depth, nest), count_of(lanes, nest)});
  return interleave_columns(c, lane_order);
}

ArrayId add_constant(ir::ConstantRef constant, Plan& plan) {
  Array a;
  a.constant = std::move(constant);
  a.dtype = a.constant->dtype;
  for (int64_t s : a.constant->shape) a.shape.push_back(s);
  a.strides = row_major(a.shape);
  plan.arrays.push_back(std::move(a));
  return static_cast<ArrayId>(plan.arrays.size() - 1);
}

std::optional<ArrayId> pack_constant(const Nest& nest, const Contraction& roles, const LaneOrder& lane_order, Plan& plan) {
  ir::ConstantRef c = lanes_constant(nest, roles, lane_order, plan);
  if (c) c = with_whole_groups(c, count_of(roles.depth.back().axes, nest), roles.group);
  if (!c) return std::nullopt;
  // Tiles widen what they load, with the same bits; engines without states keep their weights.
  if (plan.sums_in_order && roles.group == 1)
    if (ir::ConstantRef narrow = ir::uncast(*c)) c = std::move(narrow);
  return add_constant(ir::pack(c, lane_order.panel, roles.group), plan);
}

Dim extent_of(const std::vector<int>& axes, const Nest& nest) {
  Dim out = 1;
  for (int x : axes) out = out * nest.axes[x].extent;
  return out;
}

/// The axes that are cut into groups as one: the innermost of the depth, with its neighbours where groups cross its ends.
std::vector<int> grouped_axes(const Contraction& roles, const Nest& nest) {
  if (roles.group == 1) return {};
  const std::vector<int>& run = roles.depth.back().axes;
  const bool alone = mod(nest.axes[run.back()].extent, Dim(roles.group)) == Dim(0);
  return alone ? std::vector<int>{run.back()} : run;
}

/// The places on `axes` that are walked as one, from the number of the step.
void place_along(const Expr& step, const std::vector<int>& axes, const Nest& nest, std::vector<Expr>& at) {
  Expr rest = step;
  for (size_t k = axes.size(); k-- > 1;) {
    const Expr extent = Expr::dim(nest.axes[axes[k]].extent);
    at[axes[k]] = binary(ExprOp::mod, rest, extent);
    rest = rest / extent;
  }
  at[axes[0]] = rest;
}

}  // namespace

PackedBlocks add_packed_blocks(const ir::ConstantRef& bytes, const BlockFormat& format, int64_t panel, Plan& plan) {
  const ArrayId codes = add_constant(ir::packed_codes(bytes, format, panel), plan);
  return PackedBlocks{codes, add_constant(ir::packed_scales(bytes, format, panel), plan)};
}

std::optional<PackedBlocks> pack_blocks(const Nest& nest, const Contraction& roles, const LaneOrder& order, Plan& plan) {
  const ir::ConstantRef c = lanes_constant(nest, roles, order, plan);
  const auto of = c ? in_blocks(c) : std::nullopt;
  if (!of || of->axis != 1 || !of->format->linear) return std::nullopt;
  const Sizes& shape = of->bytes->shape;
  return add_packed_blocks(ir::reshape(of->bytes, {shape[1], shape[2], shape[3]}), *of->format, order.panel, plan);
}

ArrayId pack_operand(const Nest& nest, const Contraction& roles, const LaneOrder& order, Plan& plan, std::vector<Nest>& copies) {
  if (auto constant = pack_constant(nest, roles, order, plan)) return *constant;
  const int64_t panel = order.panel;
  const std::vector<int> batch = axes_of(roles.batch), depth = axes_of(roles.depth);
  const std::vector<int> outer_lanes = axes_of(roles.lanes);
  // The lanes are one joint axis (several are run as a product): its number is cut into panels.
  const Dim lanes = extent_of(outer_lanes, nest);
  Nest copy;
  DimList shape;
  std::vector<Expr> at(nest.axes.size(), zero_index());
  auto axis = [&](Dim extent) {
    copy.axes.push_back({ops::Axis::Kind::parallel, extent});
    shape.push_back(extent);
    return Expr::axis(static_cast<int>(copy.axes.size()) - 1);
  };
  for (int x : batch) at[x] = axis(nest.axes[x].extent);
  const Expr block = axis(ceil_div(lanes, Dim(panel)));
  const std::vector<int> run = grouped_axes(roles, nest);
  for (int x : depth)
    if (std::ranges::find(run, x) == run.end()) at[x] = axis(nest.axes[x].extent);
  const Dim products = extent_of(run, nest), group(roles.group);
  const Expr first = roles.group > 1 ? axis(ceil_div(products, group)) : Expr();
  const Expr inside = axis(Dim(panel));
  const Expr lane = simplify(block * Expr::integer(DType::i64, panel) + inside);
  place_along(lane_at(lane, lanes, order), outer_lanes, nest, at);
  Expr fits = mod(lanes, Dim(panel)) == Dim(0) ? Expr() : lane < Expr::dim(lanes);
  if (roles.group > 1) {
    const Expr product = simplify(first * Expr::integer(DType::i64, roles.group) + axis(group));
    place_along(product, run, nest, at);
    const Expr there = mod(products, group) == Dim(0) ? Expr() : product < Expr::dim(products);
    if (there) fits = fits ? logical_and(fits, there) : there;
  }
  auto place = [&](const ExprNode& n) { return n.op == ExprOp::axis ? at[n.index] : Expr(); };
  NestOutput out;
  out.value = moved_operand(nest, roles.lanes_operand, place, fits, copy);
  out.dtype = out.value.dtype();
  out.array = add_temporary(plan, out.dtype, shape);
  for (size_t k = 0; k < copy.axes.size(); ++k) out.index.push_back(Expr::axis(static_cast<int>(k)));
  const ArrayId packed = out.array;
  copy.outputs.push_back(std::move(out));
  copy.nodes = nest.nodes;
  copies.push_back(std::move(copy));
  return packed;
}

}  // namespace tenon::codegen
