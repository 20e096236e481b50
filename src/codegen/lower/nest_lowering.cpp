// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/nest_lowering.h"

#include "codegen/analysis/combine.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {

using ops::Axis;
using ops::Combine;

namespace {

/// Whether the body is long: of usual networks only chains of many fused nodes are.
bool is_long_body(const Nest& nest) {
  const BodyCost cost = cost_of(nest);
  return cost.transcendental > 4 || cost.arithmetic + cost.transcendental > 32;
}

/// Whether the value is a product, or a sum of nothing but products.
bool adds_products(const Expr& value) {
  if (value.op() == ExprOp::mul) return true;
  return value.op() == ExprOp::add && std::ranges::all_of(value.args(), adds_products);
}

/// Partial sums of a reduction: as many as hide the latency of an addition, two to four cycles.
constexpr int kPartialSums = 4;

}  // namespace

int partial_sums_of_reduction(const Nest& nest, int vector, int lanes) {
  if (vector < 0 || nest.axes[vector].kind == Axis::Kind::parallel || is_long_body(nest)) return 1;
  const auto fixed = nest.axes[vector].extent.number();
  return !fixed || *fixed >= int64_t{2} * kPartialSums * lanes ? kPartialSums : 1;
}

NestLowering::NestLowering(KernelEmitter& emit, const Nest& nest, const Schedule& schedule, const LoopTactic& tactic)
    : emit_(emit), nest_(nest), schedule_(schedule), unroll_(tactic.unroll) {
  limits_ = take_step_limits(nest_, schedule.vector, [&](int axis) { return axis != schedule.vector && !is_unrolled(axis); });
  const int axes = static_cast<int>(nest.axes.size());
  for (const NestAccess& a : nest_.accesses) reads_.push_back(cursor(a.array, flat_of(a, emit.plan()), axes, false));
  for (const NestOutput& o : nest.outputs) writes_.push_back(cursor(o.array, flat_of(o, emit.plan()), axes, true));
  if (nest.condition < 0) return;
  condition_at_ = schedule.outer;
  for (int x = 0; x < axes; ++x)
    if (is_axis_of_condition(nest, x)) condition_at_ = std::max(condition_at_, x + 1);
}

Result<void> NestLowering::run(std::vector<Reg> outer_axes, Reg from, Reg to) {
  State state;
  state.axes = std::move(outer_axes);
  state.axes.resize(nest_.axes.size(), kNone);
  state.vector = schedule_.vector;
  state.conditions.resize(reads_.size() + writes_.size(), kNone);
  for (const Cursor& c : reads_) state.offsets.push_back(first_offset(c, state));
  for (const Cursor& c : writes_) state.offsets.push_back(first_offset(c, state));
  task_begin_ = from;
  task_end_ = to;
  if (schedule_.transposed >= 0) return squares(state);
  TRY(enter(schedule_.outer, state, {}));
  return {};
}

Cursor NestLowering::cursor(ArrayId array, Expr flat, int axes, bool written) {
  Cursor c{emit_.buffer(array, written), flat, affine_of(flat, axes)};
  return c;
}

Reg NestLowering::first_offset(const Cursor& c, const State& state) {
  if (!c.affine) return kNone;
  Reg sum = c.affine->offset == Dim(0) ? kNone : emit_.dim(c.affine->offset);
  for (int x = 0; x < schedule_.outer; ++x) sum = emit_.add_scaled(sum, c.affine->coefficients[x], state.axes[x]);
  return sum == kNone ? emit_.integer(0) : sum;
}

void NestLowering::advance(State& state, int axis, Reg at) {
  state.axes[axis] = at;
  size_t k = 0;
  for (const auto* list : {&reads_, &writes_})
    for (const Cursor& c : *list) {
      if (c.affine) state.offsets[k] = emit_.add_scaled(state.offsets[k], c.affine->coefficients[axis], at);
      ++k;
    }
}

Result<std::vector<Reg>> NestLowering::enter(int axis, const State& state, const std::vector<Reg>& carried) {
  return axis == condition_at_ ? enter_where_true(axis, state) : enter_axis(axis, state, carried);
}

Result<std::vector<Reg>> NestLowering::enter_where_true(int axis, const State& state) {
  const Reg condition = TRY(load(nest_.condition, state));
  Result<void> status;
  build().branch(
      condition,
      [&] {
        if (auto r = enter_axis(axis, state, {}); !r) status = std::unexpected(r.error());
        return std::vector<Reg>{};
      },
      [] { return std::vector<Reg>{}; });
  if (!status) return std::unexpected(status.error());
  return std::vector<Reg>{};
}

Result<std::vector<Reg>> NestLowering::enter_axis(int axis, const State& state, const std::vector<Reg>& carried) {
  if (axis == static_cast<int>(nest_.axes.size())) return innermost(state, carried);
  if (is_reduction(axis) && (axis == schedule_.outer || !is_reduction(axis - 1)) && carried.empty()) return reduce_from(axis, state);
  if (axis == schedule_.vector) return vector_loop(axis, state, carried);
  return loop_over(axis, state, carried, emit_.integer(0), emit_.dim(nest_.axes[axis].extent), 1);
}

bool NestLowering::is_small_window_from(int axis) const {
  int64_t steps = 1;
  for (size_t x = static_cast<size_t>(axis); x < nest_.axes.size(); ++x) {
    if (static_cast<int>(x) == schedule_.vector) continue;
    const auto extent = nest_.axes[x].extent.number();
    if (!extent || (steps *= *extent) > unroll_ * unroll_) return false;
  }
  return true;
}

bool NestLowering::is_unrolled(int axis) const {
  const auto extent = nest_.axes[static_cast<size_t>(axis)].extent.number();
  return is_reduction(axis) && axis != schedule_.vector && extent && *extent <= unroll_ && is_small_window_from(axis);
}

void NestLowering::apply_limits(int axis, const State& state, Reg& from, Reg& to) {
  for (const Affine& condition : limits_[static_cast<size_t>(axis)]) {
    Reg rest = emit_.dim(condition.offset);
    for (int x = 0; x < axis; ++x) rest = emit_.add_scaled(rest, condition.coefficients[x], state.axes[x]);
    const int64_t step = condition.coefficients[axis].value();
    const Reg divisor = emit_.integer(std::abs(step));
    // step > 0: the first i with step * i >= -rest. step < 0: one past the last i with -step * i <= rest. Division rounds towards zero, so
    // that a bound below 0 becomes at most 0.
    const Reg distance = step > 0 ? build().sub(emit_.integer(step - 1), rest) : build().add(rest, divisor);
    const Reg end = divisor == emit_.integer(1) ? distance : build().expr(ExprOp::div, {distance, divisor});
    if (step > 0) from = build().expr(ExprOp::max, {from, end});
    else to = build().min(to, end);
  }
}

Result<std::vector<Reg>> NestLowering::unrolled(int axis, const State& state, std::vector<Reg> carried, int64_t extent) {
  for (int64_t i = 0; i < extent; ++i) {
    State inner = state;
    advance(inner, axis, emit_.integer(i));
    carried = TRY(enter(axis + 1, inner, carried));
  }
  return carried;
}

Result<std::vector<Reg>> NestLowering::loop_over(int axis, const State& state, const std::vector<Reg>& carried, Reg from, Reg to,
                                                 int64_t step) {
  if (inside_reduction_ && is_unrolled(axis)) return unrolled(axis, state, carried, nest_.axes[axis].extent.value());
  apply_limits(axis, state, from, to);
  const State outside = TRY(with_read_conditions(axis, state));
  Result<void> status;
  auto after = build().loop(from, to, emit_.integer(step), carried, [&](Reg i, const std::vector<Reg>& inside) {
    State inner = outside;
    advance(inner, axis, i);
    auto r = enter(axis + 1, inner, inside);
    if (r) return *r;
    status = std::unexpected(r.error());
    return inside;
  });
  if (!status) return std::unexpected(status.error());
  return after;
}

Result<NestLowering::State> NestLowering::with_read_conditions(int axis, State state) {
  if (!inside_reduction_ || axis + 1 != static_cast<int>(nest_.axes.size())) return state;
  KernelEmitter::EvalContext context = context_for(state);
  for (size_t k = 0; k < reads_.size(); ++k) {
    const Expr& within = nest_.accesses[k].within;
    if (!within || state.conditions[k] != kNone || mentions(within, ExprOp::axis, axis) || mentions(within, ExprOp::input)) continue;
    if (state.vector >= 0 && mentions(within, ExprOp::axis, state.vector)) continue;
    state.conditions[k] = TRY(emit_.evaluate(within, context));
  }
  return state;
}

Result<NestLowering::State> NestLowering::with_lane_masks(int axis, State state) {
  if (axis + 1 != static_cast<int>(nest_.axes.size())) return state;
  KernelEmitter::EvalContext context = context_for(state);
  size_t k = 0;
  const auto find_mask = [&](const Expr& within, const Cursor& c) -> Result<void> {
    const size_t at = k++;
    if (!within || !c.affine || c.affine->coefficients[axis] == Dim(0)) return {};
    if (mentions(within, ExprOp::axis, axis) || mentions(within, ExprOp::input)) return {};
    const Reg all = TRY(emit_.evaluate(within, context));
    state.offsets[at] = safe_offset(all, state.offsets[at]);
    state.conditions[at] = build().splat(all, emit_.lanes());
    return {};
  };
  for (size_t r = 0; r < reads_.size(); ++r) TRY(find_mask(nest_.accesses[r].within, reads_[r]));
  for (size_t w = 0; w < writes_.size(); ++w) TRY(find_mask(nest_.outputs[w].within, writes_[w]));
  return state;
}

Result<std::vector<Reg>> NestLowering::vector_loop(int axis, const State& outside, std::vector<Reg> carried) {
  const State state = is_reduction(axis) ? TRY(with_read_conditions(axis, outside)) : TRY(with_lane_masks(axis, outside));
  const int lanes = emit_.lanes();
  const Dim extent = nest_.axes[axis].extent;
  const bool part = schedule_.cut >= 0;
  const Reg from = part ? task_begin_ : emit_.integer(0), to = part ? task_end_ : emit_.dim(extent);
  const auto fixed = extent.number();
  if (!part && fixed && *fixed < lanes) { return masked_step(axis, state, carried, from, to); }
  if (is_vector_parallel() && is_long_body(nest_) && (part || !fixed || *fixed % lanes != 0)) {
    Result<void> status;
    auto after = build().loop(from, to, emit_.integer(lanes), carried, [&](Reg i, const std::vector<Reg>& inside) {
      auto r = masked_step(axis, state, inside, i, to);
      if (r) return *r;
      status = std::unexpected(r.error());
      return inside;
    });
    if (!status) return std::unexpected(status.error());
    return after;
  }
  Reg whole_end;
  if (!part && fixed) {
    whole_end = emit_.integer(*fixed / lanes * lanes);
  } else {
    const Reg length = build().sub(to, from);
    whole_end = build().add(from, build().sub(length, build().expr(ExprOp::rem, {length, emit_.integer(lanes)})));
  }
  Reg begin = from;
  if (partial_sums_of_reduction(nest_, axis, lanes) > 1) carried = TRY(interleaved_sums(axis, state, carried, begin, whole_end));
  carried = TRY(loop_over(axis, state, carried, begin, whole_end, lanes));
  if (!part && fixed && *fixed % lanes == 0) return carried;
  Result<void> status;
  auto after = build().branch(
      build().expr(ExprOp::less, {whole_end, to}),
      [&] {
        auto r = masked_step(axis, state, carried, whole_end, to);
        if (r) return *r;
        status = std::unexpected(r.error());
        return carried;
      },
      [&] { return carried; });
  if (!status) return std::unexpected(status.error());
  return after;
}

Result<std::vector<Reg>> NestLowering::interleaved_sums(int axis, const State& state, const std::vector<Reg>& carried, Reg& from, Reg to) {
  const Reg step = emit_.integer(int64_t{kPartialSums} * emit_.lanes()), length = build().sub(to, from);
  const Reg end = build().add(from, build().sub(length, build().expr(ExprOp::rem, {length, step})));
  std::vector<Reg> all = carried;
  for (int k = 1; k < kPartialSums; ++k) {
    const std::vector<Reg> more = identities();
    all.insert(all.end(), more.begin(), more.end());
  }
  const size_t sums = carried.size();
  Result<void> status;
  all = build().loop(from, end, step, all, [&](Reg i, const std::vector<Reg>& inside) {
    std::vector<Reg> after;
    for (size_t k = 0; k < kPartialSums; ++k) {
      State inner = state;
      advance(inner, axis, build().add(i, emit_.integer(static_cast<int64_t>(k) * emit_.lanes())));
      const auto mine = std::span(inside).subspan(k * sums, sums);
      auto r = enter(axis + 1, inner, {mine.begin(), mine.end()});
      if (!r) {
        status = std::unexpected(r.error());
        return inside;
      }
      after.insert(after.end(), r->begin(), r->end());
    }
    return after;
  });
  if (!status) return std::unexpected(status.error());
  from = end;
  for (; all.size() > sums; all.resize(all.size() / 2))
    for (size_t k = 0; k < all.size() / 2; ++k)
      all[k] = build().expr(operator_of(nest_.outputs[k % sums].combine), {all[k], all[all.size() / 2 + k]});
  return all;
}

Result<std::vector<Reg>> NestLowering::masked_step(int axis, const State& state, const std::vector<Reg>& carried, Reg at, Reg to) {
  State inner = state;
  advance(inner, axis, at);
  inner.mask = build().first_mask(build().sub(to, at), emit_.lanes());
  return enter(axis + 1, inner, carried);
}

std::vector<Reg> NestLowering::identities() {
  std::vector<Reg> out;
  const int lanes = schedule_.vector >= 0 ? emit_.lanes() : 1;
  for (const NestOutput& o : nest_.outputs) {
    const DType dtype = o.value.dtype();
    out.push_back(build().splat(emit_.constant({dtype, 1}, identity_of(o.combine, dtype)), lanes));
  }
  return out;
}

Result<std::vector<Reg>> NestLowering::reduce_from(int axis, const State& state) {
  const std::vector<Reg> carried = identities();
  if (nest_.axes[axis].kind == Axis::Kind::scanned) return scan(axis, state, carried);
  inside_reduction_ = true;
  const bool along = axis == schedule_.vector;
  auto sums =
      along ? vector_loop(axis, state, carried) : loop_over(axis, state, carried, emit_.integer(0), emit_.dim(nest_.axes[axis].extent), 1);
  inside_reduction_ = false;
  if (!sums) return sums;
  for (size_t k = 0; k < nest_.outputs.size(); ++k) {
    Reg total = (*sums)[k];
    if (is_vector_reduced()) total = build().reduce(total, nest_.outputs[k].combine);
    TRY(store(k, total, state, nullptr));
  }
  return std::vector<Reg>{};
}

Result<std::vector<Reg>> NestLowering::scan(int axis, const State& state, const std::vector<Reg>& start) {
  const Reg extent = emit_.dim(nest_.axes[axis].extent);
  Result<void> status;
  build().loop(emit_.integer(0), extent, emit_.integer(1), start, [&](Reg i, const std::vector<Reg>& before) {
    State inner = state;
    const Reg at = nest_.reverse ? build().sub(build().sub(extent, emit_.integer(1)), i) : i;
    advance(inner, axis, at);
    auto r = scan_step(inner, before);
    if (r) return *r;
    status = std::unexpected(r.error());
    return before;
  });
  if (!status) return std::unexpected(status.error());
  return std::vector<Reg>{};
}

Result<std::vector<Reg>> NestLowering::scan_step(const State& state, const std::vector<Reg>& before) {
  KernelEmitter::EvalContext context = context_for(state);
  std::vector<Reg> after;
  for (size_t k = 0; k < nest_.outputs.size(); ++k) {
    const Reg value = TRY(emit_.evaluate(nest_.outputs[k].value, context));
    after.push_back(build().expr(operator_of(nest_.outputs[k].combine), {before[k], value}));
    TRY(store(k, nest_.exclusive ? before[k] : after[k], state, &context));
  }
  return after;
}

Result<std::vector<Reg>> NestLowering::innermost(const State& state, const std::vector<Reg>& carried) {
  KernelEmitter::EvalContext context = context_for(state);
  std::vector<Reg> after;
  for (size_t k = 0; k < nest_.outputs.size(); ++k) {
    const NestOutput& o = nest_.outputs[k];
    if (!inside_reduction_) {
      TRY(store(k, TRY(emit_.evaluate(o.value, context)), state, &context));
      continue;
    }
    after.push_back(TRY(accumulate(o, carried[k], state, context)));
  }
  return after;
}

Result<Reg> NestLowering::accumulate(const NestOutput& o, Reg before, const State& state, KernelEmitter::EvalContext& context) {
  const bool masked = is_vector_reduced() && state.mask != kNone;
  const int lanes = build().type(before).lanes;
  const Expr& v = o.value;
  // A chain of multiply-adds on one sum has their latency; enough other sums hide it.
  const bool multiplies = v.op() == ExprOp::mul || (nest_.outputs.size() >= kPartialSums && adds_products(v));
  if (o.combine == Combine::sum && multiplies && is_arithmetic_float(v.dtype()) && !masked) return add_products(v, before, context);
  Reg value = build().splat(TRY(emit_.evaluate(v, context)), lanes);
  if (masked) {
    const Reg identity = build().splat(emit_.constant({v.dtype(), 1}, identity_of(o.combine, v.dtype())), lanes);
    value = build().expr(ExprOp::select, {state.mask, value, identity});
  }
  return build().expr(operator_of(o.combine), {before, value});
}

Result<Reg> NestLowering::add_products(const Expr& value, Reg sum, KernelEmitter::EvalContext& context) {
  if (value.op() == ExprOp::add) return add_products(value.args()[1], TRY(add_products(value.args()[0], sum, context)), context);
  const int lanes = build().type(sum).lanes;
  const Reg a = build().splat(TRY(emit_.evaluate(value.args()[0], context)), lanes);
  const Reg b = build().splat(TRY(emit_.evaluate(value.args()[1], context)), lanes);
  return build().fma(a, b, sum);
}

}  // namespace tenon::codegen
