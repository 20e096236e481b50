// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/operands.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {

namespace {

Expr zero() { return Expr::integer(DType::i64, 0); }
Expr zero_of(DType dtype) { return is_float(dtype) ? Expr::constant(dtype, 0) : Expr::integer(dtype, 0); }

/// Constant axes, sorted so that the array is walked densely: (axis, extent), outermost first; nullopt where it is not dense.
std::optional<std::vector<int>> dense_order(const Affine& place, const Nest& nest, const Sizes& shape) {
  std::vector<int> order;
  int64_t total = 1, count = 1;
  for (int64_t s : shape) total *= s;
  for (size_t x = 0; x < nest.axes.size(); ++x) {
    if (place.coefficients[x] == Dim(0) || nest.axes[x].extent == Dim(1)) continue;
    if (!place.coefficients[x].is_number() || !nest.axes[x].extent.is_number()) return std::nullopt;
    order.push_back(static_cast<int>(x));
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) { return place.coefficients[a].value() > place.coefficients[b].value(); });
  for (size_t k = order.size(); k-- > 0;) {
    if (place.coefficients[order[k]].value() != count) return std::nullopt;
    count *= nest.axes[order[k]].extent.value();
  }
  return place.offset == Dim(0) && count == total ? std::optional(order) : std::nullopt;
}

std::vector<int> axes_of(const std::vector<JointAxis>& list) {
  std::vector<int> out;
  for (const JointAxis& a : list) out.insert(out.end(), a.axes.begin(), a.axes.end());
  return out;
}

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

/// The lane that stands at that number.
Expr lane_at(const Expr& number, Dim lanes, const LaneOrder& order) {
  if (order.columns == 1) return number;
  const auto integer = [](int64_t value) { return Expr::integer(DType::i64, value); };
  const Expr reg = number / integer(order.lanes), column = binary(ExprOp::mod, reg, integer(order.columns));
  const Expr inside = binary(ExprOp::mod, number, integer(order.lanes));
  return column * Expr::dim(floor_div(lanes, Dim(order.columns))) + reg / integer(order.columns) * integer(order.lanes) + inside;
}

std::optional<ArrayId> pack_constant(const Nest& nest, const Contraction& roles, const LaneOrder& lane_order, Plan& plan) {
  const NestAccess& access = nest.accesses[roles.lanes_operand.accesses[0]];
  const ir::ConstantRef source = constant_of(roles.lanes_operand, nest, plan);
  if (!source || access.within) return std::nullopt;
  auto place = affine_of(flat_of(access, plan), static_cast<int>(nest.axes.size()));
  if (!place) return std::nullopt;
  auto order = dense_order(*place, nest, source->shape);
  if (!order) return std::nullopt;
  const std::vector<int> batch = axes_of(roles.batch), depth = axes_of(roles.depth), lanes = axes_of(roles.lanes);
  std::vector<int> wanted = batch;
  wanted.insert(wanted.end(), depth.begin(), depth.end());
  wanted.insert(wanted.end(), lanes.begin(), lanes.end());
  Sizes split;
  std::vector<int> permutation;
  for (int x : *order) split.push_back(nest.axes[x].extent.value());
  for (int x : wanted) permutation.push_back(static_cast<int>(std::find(order->begin(), order->end(), x) - order->begin()));
  if (permutation.size() != order->size()) return std::nullopt;
  ir::ConstantRef c = ir::permute(ir::reshape(source, split), permutation);
  c = ir::reshape(c, {count_of(batch, nest), count_of(depth, nest), count_of(lanes, nest)});
  c = interleave_columns(c, lane_order);
  c = with_whole_groups(c, count_of(roles.depth.back().axes, nest), roles.group);
  if (!c) return std::nullopt;
  Array a;
  a.constant = ir::pack(c, lane_order.panel, roles.group);
  a.dtype = a.constant->dtype;
  for (int64_t s : a.constant->shape) a.shape.push_back(s);
  a.strides = row_major(a.shape);
  plan.arrays.push_back(std::move(a));
  return static_cast<ArrayId>(plan.arrays.size() - 1);
}

using Leaf = std::function<Expr(const ExprNode&)>;

/// The load with the axes put at other places; where `fits` (may be null) does not hold, nothing is read and it is zero.
NestAccess moved(NestAccess read, const Leaf& place, const Expr& fits) {
  for (Expr& e : read.index) e = simplify(substitute(e, place));
  if (read.flat) read.flat = simplify(substitute(read.flat, place));
  if (read.within) read.within = substitute(read.within, place);
  if (read.fill) read.fill = substitute(read.fill, place);
  if (fits) read.within = read.within ? logical_and(read.within, fits) : fits;
  if (read.within && !read.fill) read.fill = zero_of(read.dtype);
  return read;
}

/// The operand's value in the nest `copy`, which gets its loads.
Expr moved_operand(const Nest& nest, const ContractOperand& operand, const Leaf& place, const Expr& fits, Nest& copy) {
  for (const int k : operand.accesses) copy.accesses.push_back(moved(nest.accesses[k], place, fits));
  const auto own_number = [&](const ExprNode& n) {
    if (n.op != ExprOp::input) return Expr();
    const auto at = std::ranges::find(operand.accesses, static_cast<int>(n.index));
    return Expr::input(static_cast<int>(at - operand.accesses.begin()), n.dtype);
  };
  const Expr value = substitute(operand.value, own_number);
  return fits && !operand.is_load() ? select(fits, value, zero_of(value.dtype())) : value;
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

/// Tells the places on `axes` that are walked as one by the number of the step.
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

void transpose_constants(Nest& nest, int vector_axis, Plan& plan) {
  if (vector_axis < 0) return;
  for (NestAccess& access : nest.accesses) {
    const ir::ConstantRef source = plan.arrays[access.array].constant;
    if (!source || access.within) continue;
    auto place = affine_of(flat_of(access, plan), static_cast<int>(nest.axes.size()));
    if (!place || place->coefficients[vector_axis] == Dim(0) || place->coefficients[vector_axis] == Dim(1)) continue;
    auto order = dense_order(*place, nest, source->shape);
    // An axis of one step has no place in it.
    if (!order || std::ranges::find(*order, vector_axis) == order->end()) continue;
    Sizes split;
    for (int x : *order) split.push_back(nest.axes[x].extent.value());
    const int at = static_cast<int>(std::find(order->begin(), order->end(), vector_axis) - order->begin());
    std::vector<int> permutation;
    for (int k = 0; k < static_cast<int>(order->size()); ++k)
      if (k != at) permutation.push_back(k);
    permutation.push_back(at);
    Array transposed;
    transposed.constant = ir::permute(ir::reshape(source, split), permutation);
    transposed.dtype = transposed.constant->dtype;
    for (int64_t s : transposed.constant->shape) transposed.shape.push_back(s);
    transposed.strides = row_major(transposed.shape);
    plan.arrays.push_back(std::move(transposed));
    access.array = static_cast<ArrayId>(plan.arrays.size() - 1);
    access.flat = Expr();
    access.index.clear();
    for (int k : permutation) access.index.push_back(Expr::axis((*order)[k]));
  }
}

Result<ArrayId> pack_operand(const Nest& nest, const Contraction& roles, const LaneOrder& order, Plan& plan, std::vector<Nest>& before) {
  if (auto constant = pack_constant(nest, roles, order, plan)) return *constant;
  const int64_t panel = order.panel;
  const std::vector<int> batch = axes_of(roles.batch), depth = axes_of(roles.depth);
  const std::vector<int> outer_lanes = axes_of(roles.lanes);
  // The lanes are one joint axis (several are run as a product): its number is cut into panels.
  const Dim lanes = extent_of(outer_lanes, nest);
  Nest copy;
  DimList shape;
  std::vector<Expr> at(nest.axes.size(), zero());
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
  before.push_back(std::move(copy));
  return packed;
}

namespace {

/// An operand of one load is stored as its whole array, with the border, which the nest then reads as it did.
void store_array(Nest& nest, const ContractOperand& operand, Plan& plan, std::vector<Nest>& before) {
  NestAccess& access = nest.accesses[operand.accesses[0]];
  const ir::ConstantRef constant = constant_of(operand, nest, plan);
  const Array& source = plan.arrays[access.array];
  const auto with_load = [&](const Expr& load) {
    return substitute(operand.value, [&](const ExprNode& n) { return n.op == ExprOp::input ? load : Expr(); });
  };
  Expr factors[2] = {nest.outputs[0].value.args()[0], nest.outputs[0].value.args()[1]};
  const DType stored = operand.value.dtype();
  for (Expr& f : factors)
    if (mentions(f, ExprOp::input, operand.accesses[0])) f = widened(Expr::input(operand.accesses[0], stored), nest.outputs[0].dtype);
  nest.outputs[0].value = factors[0] * factors[1];
  if (access.fill) access.fill = with_load(access.fill);
  if (constant) {
    Array cast = source;
    cast.constant = constant;
    cast.dtype = stored;
    cast.value = {};
    plan.arrays.push_back(std::move(cast));
    access.array = static_cast<ArrayId>(plan.arrays.size() - 1);
    access.dtype = stored;
    return;
  }
  Nest copy;
  NestAccess read;
  read.array = access.array;
  read.dtype = access.dtype;
  NestOutput out;
  Border border = source.border;
  border.zeros = border.zeros && operand.value.op() == ExprOp::cast;
  for (size_t d = 0; d < source.shape.size(); ++d) {
    const int64_t before = border.empty() ? 0 : border.before[d], after = border.empty() ? 0 : border.after[d];
    copy.axes.push_back({ops::Axis::Kind::parallel, source.shape[d] + before + after});
    read.index.push_back(simplify(Expr::axis(static_cast<int>(d)) - Expr::integer(DType::i64, before)));
  }
  out.index = read.index;
  out.value = with_load(Expr::input(0, access.dtype));
  out.dtype = stored;
  out.array = add_temporary(plan, stored, source.shape, source.order);
  plan.arrays[out.array].border = border;
  plan.arrays[out.array].strides = strides_of(plan.arrays[out.array]);
  copy.accesses.push_back(std::move(read));
  copy.nodes = nest.nodes;
  access.array = out.array;
  access.dtype = stored;
  copy.outputs.push_back(std::move(out));
  before.push_back(std::move(copy));
}

}  // namespace

void store_rows_operand(Nest& nest, const Contraction& roles, Plan& plan, std::vector<Nest>& before) {
  if (roles.rows_operand.accesses.size() == 1) return store_array(nest, roles.rows_operand, plan, before);
  store_rows_in_order(nest, roles, plan, before);
}

void store_rows_in_order(Nest& nest, const Contraction& roles, Plan& plan, std::vector<Nest>& before) {
  Nest copy;
  NestOutput out;
  DimList shape;
  NestAccess stored;
  std::vector<Expr> at(nest.axes.size(), zero());
  for (const auto* list : {&roles.batch, &roles.rows, &roles.depth})
    for (const int x : axes_of(*list)) {
      at[x] = Expr::axis(static_cast<int>(copy.axes.size()));
      copy.axes.push_back({ops::Axis::Kind::parallel, nest.axes[x].extent});
      shape.push_back(nest.axes[x].extent);
      out.index.push_back(at[x]);
      stored.index.push_back(Expr::axis(x));
    }
  const auto place = [&](const ExprNode& n) { return n.op == ExprOp::axis ? at[n.index] : Expr(); };
  out.value = moved_operand(nest, roles.rows_operand, place, Expr(), copy);
  out.dtype = out.value.dtype();
  out.array = add_temporary(plan, out.dtype, shape);
  stored.array = out.array;
  stored.dtype = out.dtype;
  copy.outputs.push_back(out);
  copy.nodes = nest.nodes;
  before.push_back(std::move(copy));
  Nest lanes;
  const Expr along = moved_operand(nest, roles.lanes_operand, [](const ExprNode&) { return Expr(); }, Expr(), lanes);
  const int last = static_cast<int>(lanes.accesses.size());
  nest.accesses = std::move(lanes.accesses);
  nest.accesses.push_back(std::move(stored));
  const DType sum = nest.outputs[0].dtype;
  nest.outputs[0].value = widened(Expr::input(last, out.dtype), sum) * widened(along, sum);
}

ArrayId copy_operand(Nest& nest, int operand, std::vector<int> axes, int64_t lanes, Plan& plan, std::vector<Nest>& before) {
  Nest copy;
  DimList shape;
  NestAccess read = nest.accesses[operand];
  std::vector<Expr> own(nest.axes.size(), zero()), written, moved;
  for (size_t k = 0; k < axes.size(); ++k) {
    const Dim extent = nest.axes[axes[k]].extent;
    const bool last = k + 1 == axes.size();
    copy.axes.push_back({ops::Axis::Kind::parallel, extent});
    shape.push_back(last ? Dim(round_up(extent.value(), lanes)) : extent);
    own[axes[k]] = Expr::axis(static_cast<int>(k));
    written.push_back(own[axes[k]]);
    moved.push_back(Expr::axis(axes[k]));
  }
  auto place = [&](const ExprNode& n) { return n.op == ExprOp::axis ? own[n.index] : Expr(); };
  for (Expr& e : read.index) e = simplify(substitute(e, place));
  if (read.flat) read.flat = simplify(substitute(read.flat, place));
  copy.accesses.push_back(std::move(read));
  NestOutput out;
  out.array = add_temporary(plan, DType::f32, std::move(shape));
  out.dtype = DType::f32;
  out.value = Expr::input(0, DType::f32);
  out.index = std::move(written);
  const ArrayId made = out.array;
  copy.outputs.push_back(std::move(out));
  copy.nodes = nest.nodes;
  before.push_back(std::move(copy));
  NestAccess& access = nest.accesses[operand];
  access.array = made;
  access.index = std::move(moved);
  access.flat = Expr();
  return made;
}

}  // namespace tenon::codegen
