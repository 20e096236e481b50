// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_scores.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {

Reg element_at(KernelEmitter& emit, const Affine& place, const AttentionPoint& point) {
  Reg sum = place.offset == Dim(0) ? emit.integer(0) : emit.dim(place.offset);
  for (int a = 0; a < kAttentionAxes; ++a)
    if (point[a] != kNone) sum = emit.add_scaled(sum, place.coefficients[a], point[a]);
  return sum;
}

AttentionScores::AttentionScores(KernelEmitter& emit, const Nest& nest, AttentionAxis along) : emit_(emit), nest_(nest), along_(along) {
  for (const NestAccess& a : nest.accesses) places_.push_back(affine_of(flat_of(a, emit.plan()), kAttentionAxes));
  for (size_t k = 3; k < nest.accesses.size(); ++k) buffers_.push_back(emit.buffer(nest.accesses[k].array, false));
}

KernelEmitter::EvalContext AttentionScores::context_of(const AttentionPoint& point, const QueryLanes& queries) const {
  KernelEmitter::EvalContext context;
  context.axes.assign(point.begin(), point.end());
  context.axes[along_] = queries.all;
  return context;
}

Result<void> AttentionScores::enter_queries(const Expr& score, const AttentionPoint& point, std::vector<QueryLanes> queries) {
  queries_ = std::move(queries);
  of_queries_.clear();
  for (const QueryLanes& q : queries_) {
    KernelEmitter::EvalContext context = context_of(point, q);
    context.load = [&](int access) { return load(access, point, q, context); };
    TRY(evaluate_free(score, context));
    of_queries_.push_back(std::move(context.memo));
  }
  return {};
}

/// Evaluates the largest subexpressions that do not depend on keys.
Result<void> AttentionScores::evaluate_free(const Expr& e, KernelEmitter::EvalContext& context) {
  if (e.op() == ExprOp::constant || e.op() == ExprOp::dim) return {};
  if (!depends_on_key(e)) {
    TRY(emit_.evaluate(e, context));
    return {};
  }
  for (const Expr& a : e.args()) TRY(evaluate_free(a, context));
  return {};
}

Result<Reg> AttentionScores::value(const Expr& score, const AttentionPoint& point, size_t vector, Reg product) {
  const QueryLanes& queries = queries_[vector];
  KernelEmitter::EvalContext context = context_of(point, queries);
  context.memo = of_queries_[vector];
  context.memo.insert(of_key_.begin(), of_key_.end());
  context.load = [&](int access) -> Result<Reg> {
    if (access == 0) return product;
    return load(access, point, queries, context);
  };
  const Reg out = TRY(emit_.evaluate(score, context));
  for (const auto& known : context.memo)
    if (build().type(known.second.second).lanes == 1) of_key_.insert(known);
  return build().splat(out, emit_.lanes());
}

Result<Reg> AttentionScores::value_of_keys(const Expr& score, const AttentionPoint& point, const QueryLanes& keys, Reg product) {
  KernelEmitter::EvalContext context = context_of(point, keys);
  context.load = [&](int access) -> Result<Reg> {
    if (access == 0) return product;
    return load(access, point, keys, context);
  };
  return build().splat(TRY(emit_.evaluate(score, context)), emit_.lanes());
}

Result<Reg> AttentionScores::number_at(const Expr& e, const AttentionPoint& point) {
  KernelEmitter::EvalContext context;
  context.axes.assign(point.begin(), point.end());
  context.load = [&](int access) { return load(access, point, {}, context); };
  return emit_.evaluate(e, context);
}

bool AttentionScores::depends_on_key(const Expr& e) const {
  if (!e) return false;
  if (e.op() == ExprOp::axis) return e->index == kKey;
  if (e.op() != ExprOp::input) return std::ranges::any_of(e.args(), [&](const Expr& a) { return depends_on_key(a); });
  if (e->index == 0) return true;
  const NestAccess& a = nest_.accesses[e->index];
  return depends_on_key(a.flat) || depends_on_key(a.within) || depends_on_key(a.fill) ||
         std::ranges::any_of(a.index, [&](const Expr& i) { return depends_on_key(i); });
}

/// The value of an access: a scalar where it is equal for all lanes, else a vector.
Result<Reg> AttentionScores::load(int access, const AttentionPoint& point, const QueryLanes& queries, KernelEmitter::EvalContext& context) {
  const NestAccess& a = nest_.accesses[access];
  MemoryOptions how;
  Reg offset = emit_.integer(0);
  if (!places_[access]) {
    const Reg at = TRY(emit_.evaluate(flat_of(a, emit_.plan()), context));
    (build().type(at).lanes > 1 ? how.offsets : offset) = at;
  } else {
    AttentionPoint from = point;
    from[along_] = queries.first;
    offset = element_at(emit_, *places_[access], from);
    const Dim along = places_[access]->coefficients[along_];
    if (along != Dim(0)) how.stride = emit_.dim(along);
  }
  if (a.within) return load_within(access, offset, how, queries, context);
  return load_lanes(access, offset, how, queries.inside);
}

Result<Reg> AttentionScores::load_within(int access, Reg offset, MemoryOptions how, const QueryLanes& queries,
                                         KernelEmitter::EvalContext& context) {
  const NestAccess& a = nest_.accesses[access];
  const Reg within = TRY(emit_.evaluate(a.within, context)), fill = TRY(emit_.evaluate(a.fill, context));
  const bool varies = build().type(within).lanes > 1;
  if (varies && how.stride == kNone && how.offsets == kNone) how.offsets = build().splat(emit_.integer(0), emit_.lanes());
  const Reg safe = varies ? offset : build().expr(ExprOp::select, {within, offset, emit_.integer(0)});
  const Reg mask = varies ? build().expr(ExprOp::logical_and, {queries.inside, within}) : queries.inside;
  return build().expr(ExprOp::select, {within, load_lanes(access, safe, how, mask), fill});
}

/// Loads a scalar where `how` has neither a stride nor offsets.
Reg AttentionScores::load_lanes(int access, Reg offset, MemoryOptions how, Reg mask) {
  const int32_t buffer = buffers_[access - 3];
  if (how.stride == kNone && how.offsets == kNone) return build().load(buffer, offset, 1);
  if (how.stride == emit_.integer(1)) how.stride = kNone;
  how.mask = mask;
  return build().load(buffer, offset, emit_.lanes(), how);
}

}  // namespace tenon::codegen
