// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/inline_nest.h"

#include <utility>

#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/resolve_reshapes.h"

namespace tenon::codegen {

void rewrite(Nest& nest, const std::function<Expr(const ExprNode&)>& leaf) {
  auto index = [&](Expr& e) {
    if (e) e = simplify(substitute(e, leaf));
  };
  auto value = [&](Expr& e) {
    if (e) e = substitute(e, leaf);
  };
  for (NestOutput& o : nest.outputs) {
    value(o.value);
    for (Expr& e : o.index) index(e);
    index(o.flat);
    value(o.within);
  }
  for (NestAccess& a : nest.accesses) {
    for (Expr& e : a.index) index(e);
    index(a.flat);
    value(a.within);
    value(a.fill);
  }
}

namespace {

/// Lets the access that reads a view read the array that the view reads.
void inline_view(const NestAccess& source, Nest& consumer, size_t access, const Plan& plan) {
  NestAccess& a = consumer.accesses[access];
  auto leaf = [&](const ExprNode& n) -> Expr { return n.op == ExprOp::axis ? a.index[n.index] : Expr(); };
  NestAccess moved = source;
  for (Expr& e : moved.index) e = simplify(substitute(e, leaf));
  if (moved.flat) moved.flat = simplify(substitute(moved.flat, leaf));
  if (moved.within) moved.within = substitute(moved.within, leaf);
  if (a.within) {
    moved.within = a.within;
    moved.fill = a.fill;
  }
  a = std::move(moved);
  resolve_reshapes(a, consumer, plan);
}

}  // namespace

InlineResult inline_into(const Nest& producer, Nest& consumer, size_t access, const Plan& plan) {
  const NestAccess from = consumer.accesses[access];
  const NestOutput& made = producer.outputs[0];
  if (from.flat || from.index.size() != producer.axes.size()) return InlineResult::refused;
  if (is_view(producer) && !(from.within && producer.accesses[0].within)) {
    inline_view(producer.accesses[0], consumer, access, plan);
    consumer.nodes.insert(consumer.nodes.end(), producer.nodes.begin(), producer.nodes.end());
    return InlineResult::in_place;
  }
  const int base = static_cast<int>(consumer.accesses.size());
  // Input k of the producer becomes access base + k; its axes become the places that the consumer reads.
  auto leaf = [&](const ExprNode& n) -> Expr {
    if (n.op == ExprOp::axis) return from.index[n.index];
    if (n.op == ExprOp::input) return Expr::input(base + n.index, n.dtype);
    return Expr();
  };
  std::vector<NestAccess> added;
  for (const NestAccess& a : producer.accesses) {
    NestAccess moved = a;
    for (Expr& e : moved.index) e = simplify(substitute(e, leaf));
    if (moved.flat) moved.flat = simplify(substitute(moved.flat, leaf));
    if (moved.within) moved.within = simplify(substitute(moved.within, leaf));
    if (moved.fill) moved.fill = substitute(moved.fill, leaf);
    if (from.within) {
      moved.within = moved.within ? logical_and(moved.within, from.within) : from.within;
      if (!moved.fill) moved.fill = is_float(moved.dtype) ? Expr::constant(moved.dtype, 0) : Expr::integer(moved.dtype, 0);
    }
    added.push_back(std::move(moved));
  }
  Expr body = substitute(made.value, leaf);
  if (from.within) body = select(from.within, body, from.fill);
  auto replace = [&](const ExprNode& n) -> Expr { return n.op == ExprOp::input && n.index == static_cast<int>(access) ? body : Expr(); };
  consumer.accesses.insert(consumer.accesses.end(), added.begin(), added.end());
  rewrite(consumer, replace);
  for (size_t k = base; k < consumer.accesses.size(); ++k) resolve_reshapes(consumer.accesses[k], consumer, plan);
  // The replaced access is gone: close the gap.
  consumer.accesses.erase(consumer.accesses.begin() + static_cast<long>(access));
  rewrite(consumer, [&](const ExprNode& n) -> Expr {
    return n.op == ExprOp::input && n.index > static_cast<int>(access) ? Expr::input(n.index - 1, n.dtype) : Expr();
  });
  if (mentions(made.value, ExprOp::axis))
    for (NestOutput& o : consumer.outputs) o.value = simplify(o.value);  // comparisons of positions may now fold
  consumer.nodes.insert(consumer.nodes.end(), producer.nodes.begin(), producer.nodes.end());
  return InlineResult::appended;
}

}  // namespace tenon::codegen
