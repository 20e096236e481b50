// SPDX-License-Identifier: Apache-2.0
// Loads and stores of a nest: their addresses, and the masks of lanes that are inside the array.
#include "codegen/analysis/combine.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/lower/nest_lowering.h"

namespace tenon::codegen {

KernelEmitter::EvalContext NestLowering::context_for(const State& state) {
  KernelEmitter::EvalContext context;
  context.axes = state.axes;
  if (state.vector >= 0) {
    Reg& along = context.axes[state.vector];
    if (along != kNone) along = build().add(build().splat(along, emit_.lanes()), emit_.iota());
  }
  // The callback copies `state`; loads of one access are emitted once.
  context.load = [this, state, shared = std::make_shared<std::unordered_map<int, Reg>>()](int access) -> Result<Reg> {
    if (auto found = shared->find(access); found != shared->end()) return found->second;
    return (*shared)[access] = TRY(load(access, state));
  };
  return context;
}

Result<Reg> NestLowering::load(int k, const State& state) {
  if (state.square_row >= 0 && !square_rows_[k].empty()) return square_rows_[k][static_cast<size_t>(state.square_row)];
  const NestAccess& a = nest_.accesses[k];
  MemoryOptions how;
  Reg within = state.conditions[static_cast<size_t>(k)];
  if (a.within && within == kNone) {
    KernelEmitter::EvalContext context = context_for(state);
    within = TRY(emit_.evaluate(a.within, context));
  }
  LaneAddresses at = TRY(addresses_of(reads_[k], state.offsets[k], state));
  if (at.lanes == 1 && (within == kNone || build().type(within).lanes == 1)) return load_scalar(k, at.offset, within, state);
  how.stride = at.stride;
  how.offsets = at.offsets;
  how.broadcast = at.lanes == 1;
  how.mask = state.mask;
  if (within != kNone) {
    at.offset = safe_offset(within, at.offset);
    const Reg lanes = build().splat(within, emit_.lanes());
    how.mask = how.mask == kNone ? lanes : build().expr(ExprOp::logical_and, {how.mask, lanes});
    KernelEmitter::EvalContext context = context_for(state);
    how.fill = build().splat(TRY(emit_.evaluate(a.fill, context)), emit_.lanes());
  }
  return build().load(reads_[k].buffer, at.offset, emit_.lanes(), how);
}

Reg NestLowering::safe_offset(Reg within, Reg offset) {
  if (build().type(within).lanes != 1) return offset;
  return build().expr(ExprOp::select, {within, offset, emit_.integer(0)});
}

Result<Reg> NestLowering::load_scalar(int k, Reg offset, Reg within, const State& state) {
  if (within == kNone) return build().load(reads_[k].buffer, offset, 1);
  const Reg value = build().load(reads_[k].buffer, safe_offset(within, offset), 1);
  KernelEmitter::EvalContext context = context_for(state);
  const Reg fill = TRY(emit_.evaluate(nest_.accesses[k].fill, context));
  return build().expr(ExprOp::select, {within, value, fill});
}

std::optional<int64_t> NestLowering::stride_along(const Expr& flat, int axis) const {
  if (flat.op() == ExprOp::axis) return flat->index == axis ? 1 : 0;
  if (flat.op() == ExprOp::add || flat.op() == ExprOp::sub) {
    const auto a = stride_along(flat.args()[0], axis), b = stride_along(flat.args()[1], axis);
    if (!a || !b) return std::nullopt;
    return flat.op() == ExprOp::add ? *a + *b : *a - *b;
  }
  if (mentions(flat, ExprOp::axis, axis)) return std::nullopt;
  for (int k = 0; k < static_cast<int>(nest_.accesses.size()); ++k)
    if (mentions(flat, ExprOp::input, k) && moves_along(nest_.accesses[static_cast<size_t>(k)], axis)) return std::nullopt;
  return 0;
}

Result<NestLowering::LaneAddresses> NestLowering::addresses_of(const Cursor& c, Reg offset, const State& state) {
  if (c.affine) {
    const Dim along = state.vector >= 0 && state.axes[state.vector] != kNone ? c.affine->coefficients[state.vector] : Dim(0);
    if (along == Dim(0)) return LaneAddresses{offset};
    if (along == Dim(1)) return LaneAddresses{offset, kNone, kNone, emit_.lanes()};
    return LaneAddresses{offset, emit_.dim(along), kNone, emit_.lanes()};
  }
  KernelEmitter::EvalContext context = context_for(state);
  if (state.vector >= 0 && stride_along(c.flat, state.vector) == 1) {
    context.axes[static_cast<size_t>(state.vector)] = state.axes[static_cast<size_t>(state.vector)];
    const Reg first = TRY(emit_.evaluate(c.flat, context));
    if (build().type(first).lanes == 1) return LaneAddresses{first, kNone, kNone, emit_.lanes()};
  }
  const Reg at = TRY(emit_.evaluate(c.flat, context));
  if (build().type(at).lanes == 1) return LaneAddresses{at};
  return LaneAddresses{emit_.integer(0), kNone, at, emit_.lanes()};
}

Result<void> NestLowering::store(size_t k, Reg value, const State& state, KernelEmitter::EvalContext* context) {
  const NestOutput& o = nest_.outputs[k];
  LaneAddresses at = TRY(addresses_of(writes_[k], state.offsets[nest_.accesses.size() + k], state));
  if (o.dtype != o.value.dtype()) value = build().expr(ExprOp::cast, {value}, o.dtype);
  const int lanes = is_vector_parallel() ? emit_.lanes() : 1;
  MemoryOptions how;
  how.stride = at.stride;
  how.offsets = at.offsets;
  how.mask = is_vector_parallel() ? state.mask : kNone;
  value = build().splat(value, lanes);
  if (o.within) {
    KernelEmitter::EvalContext fresh = context_for(state);
    Reg within = state.conditions[nest_.accesses.size() + k];
    if (within == kNone) within = TRY(emit_.evaluate(o.within, context ? *context : fresh));
    if (lanes == 1) {
      build().branch(
          within,
          [&] {
            build().store(writes_[k].buffer, at.offset, value, how);
            return std::vector<Reg>{};
          },
          [] { return std::vector<Reg>{}; });
      return {};
    }
    at.offset = safe_offset(within, at.offset);
    const Reg mask = build().splat(within, lanes);
    how.mask = how.mask == kNone ? mask : build().expr(ExprOp::logical_and, {how.mask, mask});
  }
  build().store(writes_[k].buffer, at.offset, value, how);
  return {};
}

}  // namespace tenon::codegen
