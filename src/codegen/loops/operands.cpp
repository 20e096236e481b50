// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/operands.h"

#include <algorithm>
#include <numeric>

#include "codegen/loops/collect.h"
#include "codegen/lower/schedule.h"

namespace tenon::codegen {

namespace {

Expr zero() { return Expr::integer(DType::i64, 0); }

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

std::optional<ArrayId> pack_constant(const Nest& nest, const ContractRoles& roles, int64_t panel, Plan& plan) {
  const NestAccess& access = nest.accesses[roles.lanes_operand];
  const ir::ConstantRef source = plan.arrays[access.array].constant;
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
  Array a;
  a.constant = ir::pack(c, panel);
  a.dtype = a.constant->dtype;
  for (int64_t s : a.constant->shape) a.shape.push_back(s);
  a.strides = row_major(a.shape);
  plan.arrays.push_back(std::move(a));
  return static_cast<ArrayId>(plan.arrays.size() - 1);
}

}  // namespace

void turn_constants(Nest& nest, int vector_axis, Plan& plan) {
  if (vector_axis < 0) return;
  for (NestAccess& access : nest.accesses) {
    const ir::ConstantRef source = plan.arrays[access.array].constant;
    if (!source || access.within) continue;
    auto place = affine_of(flat_of(access, plan), static_cast<int>(nest.axes.size()));
    if (!place || place->coefficients[vector_axis] == Dim(0) || place->coefficients[vector_axis] == Dim(1)) continue;
    auto order = dense_order(*place, nest, source->shape);
    if (!order) continue;
    Sizes split;
    for (int x : *order) split.push_back(nest.axes[x].extent.value());
    const int at = static_cast<int>(std::find(order->begin(), order->end(), vector_axis) - order->begin());
    std::vector<int> permutation;
    for (int k = 0; k < static_cast<int>(order->size()); ++k)
      if (k != at) permutation.push_back(k);
    permutation.push_back(at);
    Array turned;
    turned.constant = ir::permute(ir::reshape(source, split), permutation);
    turned.dtype = turned.constant->dtype;
    for (int64_t s : turned.constant->shape) turned.shape.push_back(s);
    turned.strides = row_major(turned.shape);
    plan.arrays.push_back(std::move(turned));
    access.array = static_cast<ArrayId>(plan.arrays.size() - 1);
    access.flat = Expr();
    access.index.clear();
    for (int k : permutation) access.index.push_back(Expr::axis((*order)[k]));
  }
}

Result<ArrayId> pack_operand(const Nest& nest, const ContractRoles& roles, int64_t panel, Plan& plan, std::vector<Nest>& before) {
  if (auto constant = pack_constant(nest, roles, panel, plan)) return *constant;
  const NestAccess& from = nest.accesses[roles.lanes_operand];
  const std::vector<int> batch = axes_of(roles.batch), depth = axes_of(roles.depth);
  std::vector<int> outer_lanes = axes_of(roles.lanes);
  // The lanes are one joint axis (several are run as a product): its number is cut into panels.
  Dim lanes = 1;
  for (int x : outer_lanes) lanes = lanes * nest.axes[x].extent;
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
  for (int x : depth) at[x] = axis(nest.axes[x].extent);
  const Expr inside = axis(Dim(panel));
  const Expr lane = simplify(block * Expr::integer(DType::i64, panel) + inside);
  Expr rest = lane;
  for (size_t k = outer_lanes.size(); k-- > 1;) {
    const Expr extent = Expr::dim(nest.axes[outer_lanes[k]].extent);
    at[outer_lanes[k]] = binary(ExprOp::mod, rest, extent);
    rest = rest / extent;
  }
  at[outer_lanes[0]] = rest;
  auto place = [&](const ExprNode& n) { return n.op == ExprOp::axis ? at[n.index] : Expr(); };
  NestAccess read = from;
  for (Expr& e : read.index) e = simplify(substitute(e, place));
  if (read.flat) read.flat = simplify(substitute(read.flat, place));
  if (read.within) read.within = substitute(read.within, place);
  if (read.fill) read.fill = substitute(read.fill, place);
  if (!(mod(lanes, Dim(panel)) == Dim(0))) {
    const Expr fits = lane < Expr::dim(lanes);
    read.within = read.within ? logical_and(read.within, fits) : fits;
  }
  if (read.within && !read.fill) read.fill = Expr::constant(read.dtype, 0);
  copy.accesses.push_back(std::move(read));
  NestOutput out;
  out.array = add_temporary(plan, from.dtype, shape);
  out.dtype = from.dtype;
  out.value = Expr::input(0, from.dtype);
  for (size_t k = 0; k < copy.axes.size(); ++k) out.index.push_back(Expr::axis(static_cast<int>(k)));
  const ArrayId packed = out.array;
  copy.outputs.push_back(std::move(out));
  copy.nodes = nest.nodes;
  before.push_back(std::move(copy));
  return packed;
}

}  // namespace tenon::codegen
