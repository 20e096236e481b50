// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "codegen/loops/inline.h"
#include "codegen/loops/operands.h"
#include "codegen/lower/kernel_emitter.h"
#include "codegen/lower/schedule.h"

namespace tenon::codegen {

namespace {

using ops::Axis;
using ops::Combine;

ExprOp operator_of(Combine combine) {
  switch (combine) {
    case Combine::sum: return ExprOp::add;
    case Combine::product: return ExprOp::mul;
    case Combine::min: return ExprOp::min;
    case Combine::max: return ExprOp::max;
    case Combine::logical_and: return ExprOp::logical_and;
    case Combine::logical_or: return ExprOp::logical_or;
    case Combine::none: break;
  }
  TENON_ASSERT(false);
}

/// The value that changes nothing when combined.
ExprNode identity_of(Combine combine, DType dtype) {
  ExprNode n;
  n.dtype = dtype;
  const bool real = is_float(dtype);
  const int bits = dtype == DType::boolean ? 1 : bits_of(dtype);
  const bool negative = is_signed(dtype);
  const int64_t highest = real         ? 0
                          : bits >= 64 ? (negative ? std::numeric_limits<int64_t>::max() : -1)
                                       : (int64_t{1} << (bits - (negative ? 1 : 0))) - 1;
  const int64_t lowest = real || !negative ? 0 : bits >= 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (bits - 1));
  const double infinity = std::numeric_limits<double>::infinity();
  switch (combine) {
    case Combine::product: n.number = 1, n.integer = 1; break;
    case Combine::min: n.number = infinity, n.integer = highest; break;
    case Combine::max: n.number = -infinity, n.integer = lowest; break;
    case Combine::logical_and: n.integer = 1; break;
    default: break;
  }
  return n;
}

/// Longer than the bodies of networks are, but for chains of many nodes.
bool is_long_body(const Nest& nest) {
  const BodyCost cost = cost_of(nest);
  return cost.transcendental > 4 || cost.arithmetic + cost.transcendental > 32;
}

/// One place in memory of a nest: its offset grows as loops are entered.
struct Cursor {
  int32_t buffer = -1;
  Expr flat;
  std::optional<Affine> affine;  ///< nullopt: evaluated where it is used
};

class NestLowering {
 public:
  NestLowering(KernelEmitter& emit, const Nest& nest, const Schedule& schedule, const Tactic& tactic)
      : emit_(emit), nest_(nest), schedule_(schedule), unroll_(tactic.unroll) {
    const int axes = static_cast<int>(nest.axes.size());
    for (const NestAccess& a : nest.accesses) reads_.push_back(cursor(a.array, flat_of(a, emit.plan()), axes, false));
    for (const NestOutput& o : nest.outputs) writes_.push_back(cursor(o.array, flat_of(o, emit.plan()), axes, true));
  }

  /// axes: registers of the first schedule.outer axes; [from, to): the part of the vector axis of this task where it is blocked.
  Result<void> run(std::vector<Reg> outer_axes, Reg from, Reg to) {
    State state;
    state.axes = std::move(outer_axes);
    state.axes.resize(nest_.axes.size(), kNone);
    for (const Cursor& c : reads_) state.offsets.push_back(start(c, state));
    for (const Cursor& c : writes_) state.offsets.push_back(start(c, state));
    from_ = from;
    to_ = to;
    TRY(enter(schedule_.outer, state, {}));
    return {};
  }

 private:
  struct State {
    std::vector<Reg> axes;
    std::vector<Reg> offsets;  ///< reads, then writes
    Reg mask = kNone;          ///< lanes inside the vector axis; kNone: all
  };

  TileBuilder& build() { return emit_.build(); }

  Cursor cursor(ArrayId array, Expr flat, int axes, bool written) {
    Cursor c{emit_.buffer(array, written), flat, affine_of(flat, axes)};
    return c;
  }

  Reg start(const Cursor& c, const State& state) {
    if (!c.affine) return kNone;
    Reg sum = c.affine->offset == Dim(0) ? kNone : emit_.dim(c.affine->offset);
    for (int x = 0; x < schedule_.outer; ++x) sum = emit_.add_scaled(sum, c.affine->coefficients[x], state.axes[x]);
    return sum == kNone ? emit_.integer(0) : sum;
  }

  void advance(State& state, int axis, Reg at) {
    state.axes[axis] = at;
    size_t k = 0;
    for (const auto* list : {&reads_, &writes_})
      for (const Cursor& c : *list) {
        if (c.affine) state.offsets[k] = emit_.add_scaled(state.offsets[k], c.affine->coefficients[axis], at);
        ++k;
      }
  }

  bool reducing(int axis) const { return axis < static_cast<int>(nest_.axes.size()) && nest_.axes[axis].kind != Axis::Kind::parallel; }
  bool vector_reduced() const { return schedule_.vector >= 0 && reducing(schedule_.vector); }
  bool vector_parallel() const { return schedule_.vector >= 0 && !reducing(schedule_.vector); }

  /// Emits the axes from `axis` inwards; `carried` are the accumulators, whose new values are returned.
  Result<std::vector<Reg>> enter(int axis, const State& state, const std::vector<Reg>& carried) {
    if (axis == static_cast<int>(nest_.axes.size())) return innermost(state, carried);
    if (reducing(axis) && (axis == schedule_.outer || !reducing(axis - 1)) && carried.empty()) return reduce_from(axis, state);
    if (axis == schedule_.vector) return strips(axis, state, carried);
    return walk(axis, state, carried, emit_.integer(0), emit_.dim(nest_.axes[axis].extent), 1);
  }

  /// All axes from this one on together make a window of at most that many steps squared.
  bool small_from(int axis) const {
    int64_t steps = 1;
    for (size_t x = static_cast<size_t>(axis); x < nest_.axes.size(); ++x) {
      if (static_cast<int>(x) == schedule_.vector) continue;
      const auto extent = nest_.axes[x].extent.number();
      if (!extent || (steps *= *extent) > unroll_ * unroll_) return false;
    }
    return true;
  }

  /// A short window is written out, so that its places are constants.
  Result<std::vector<Reg>> unrolled(int axis, const State& state, std::vector<Reg> carried, int64_t extent) {
    for (int64_t i = 0; i < extent; ++i) {
      State inner = state;
      advance(inner, axis, emit_.integer(i));
      carried = TRY(enter(axis + 1, inner, carried));
    }
    return carried;
  }

  Result<std::vector<Reg>> walk(int axis, const State& state, const std::vector<Reg>& carried, Reg from, Reg to, int64_t step) {
    const auto extent = nest_.axes[axis].extent.number();
    if (inside_reduction_ && axis != schedule_.vector && extent && *extent <= unroll_ && small_from(axis))
      return unrolled(axis, state, carried, *extent);
    Result<void> status;
    auto after = build().loop(from, to, emit_.integer(step), carried, [&](Reg i, const std::vector<Reg>& inside) {
      State inner = state;
      advance(inner, axis, i);
      auto r = enter(axis + 1, inner, inside);
      if (r) return *r;
      status = std::unexpected(r.error());
      return inside;
    });
    if (!status) return std::unexpected(status.error());
    return after;
  }

  /// Whole registers first, then one masked rest. A long body stands there once: masks cost it nothing that shows, a copy would cost the
  /// code generator as much again.
  Result<std::vector<Reg>> strips(int axis, const State& state, std::vector<Reg> carried) {
    const int lanes = emit_.lanes();
    const Dim extent = nest_.axes[axis].extent;
    const bool part = schedule_.blocked;
    const Reg from = part ? from_ : emit_.integer(0), to = part ? to_ : emit_.dim(extent);
    const auto fixed = extent.number();
    if (!part && fixed && *fixed < lanes) { return masked(axis, state, carried, from, to); }
    if (vector_parallel() && is_long_body(nest_) && (part || !fixed || *fixed % lanes != 0)) {
      Result<void> status;
      auto after = build().loop(from, to, emit_.integer(lanes), carried, [&](Reg i, const std::vector<Reg>& inside) {
        auto r = masked(axis, state, inside, i, to);
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
    carried = TRY(walk(axis, state, carried, from, whole_end, lanes));
    if (!part && fixed && *fixed % lanes == 0) return carried;
    Result<void> status;
    auto after = build().branch(
        build().expr(ExprOp::less, {whole_end, to}),
        [&] {
          auto r = masked(axis, state, carried, whole_end, to);
          if (r) return *r;
          status = std::unexpected(r.error());
          return carried;
        },
        [&] { return carried; });
    if (!status) return std::unexpected(status.error());
    return after;
  }

  Result<std::vector<Reg>> masked(int axis, const State& state, const std::vector<Reg>& carried, Reg at, Reg to) {
    State inner = state;
    advance(inner, axis, at);
    inner.mask = build().first_mask(build().sub(to, at), emit_.lanes());
    return enter(axis + 1, inner, carried);
  }

  /// All reduced (or scanned) axes from here on: accumulators start at the identity and are stored at the end.
  Result<std::vector<Reg>> reduce_from(int axis, const State& state) {
    std::vector<Reg> carried;
    const int lanes = schedule_.vector >= 0 ? emit_.lanes() : 1;
    for (const NestOutput& o : nest_.outputs) {
      const DType dtype = o.value.dtype();
      carried.push_back(build().splat(emit_.constant({dtype, 1}, identity_of(o.combine, dtype)), lanes));
    }
    if (nest_.axes[axis].kind == Axis::Kind::scanned) return scan(axis, state, carried);
    inside_reduction_ = true;
    const bool along = axis == schedule_.vector;
    auto sums = along ? strips(axis, state, carried) : walk(axis, state, carried, emit_.integer(0), emit_.dim(nest_.axes[axis].extent), 1);
    inside_reduction_ = false;
    if (!sums) return sums;
    for (size_t k = 0; k < nest_.outputs.size(); ++k) {
      Reg total = (*sums)[k];
      if (vector_reduced()) total = build().reduce(total, nest_.outputs[k].combine);
      TRY(store(k, total, state, nullptr));
    }
    return std::vector<Reg>{};
  }

  /// The running combination, stored at each step.
  Result<std::vector<Reg>> scan(int axis, const State& state, const std::vector<Reg>& start) {
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

  Result<std::vector<Reg>> scan_step(const State& state, const std::vector<Reg>& before) {
    KernelEmitter::Place place = place_for(state);
    std::vector<Reg> after;
    for (size_t k = 0; k < nest_.outputs.size(); ++k) {
      const Reg value = TRY(emit_.evaluate(nest_.outputs[k].value, place));
      after.push_back(build().expr(operator_of(nest_.outputs[k].combine), {before[k], value}));
      TRY(store(k, nest_.exclusive ? before[k] : after[k], state, &place));
    }
    return after;
  }

  Result<std::vector<Reg>> innermost(const State& state, const std::vector<Reg>& carried) {
    KernelEmitter::Place place = place_for(state);
    std::vector<Reg> after;
    for (size_t k = 0; k < nest_.outputs.size(); ++k) {
      const NestOutput& o = nest_.outputs[k];
      if (!inside_reduction_) {
        TRY(store(k, TRY(emit_.evaluate(o.value, place)), state, &place));
        continue;
      }
      after.push_back(TRY(accumulate(o, carried[k], state, place)));
    }
    return after;
  }

  Result<Reg> accumulate(const NestOutput& o, Reg before, const State& state, KernelEmitter::Place& place) {
    const bool masked = vector_reduced() && state.mask != kNone;
    const int lanes = build().type(before).lanes;
    const Expr& v = o.value;
    if (o.combine == Combine::sum && v.op() == ExprOp::mul && is_real_arithmetic(v.dtype()) && !masked) {
      const Reg a = build().splat(TRY(emit_.evaluate(v.args()[0], place)), lanes);
      const Reg b = build().splat(TRY(emit_.evaluate(v.args()[1], place)), lanes);
      return build().fma(a, b, before);
    }
    Reg value = build().splat(TRY(emit_.evaluate(v, place)), lanes);
    if (masked) {
      const Reg neutral = build().splat(emit_.constant({v.dtype(), 1}, identity_of(o.combine, v.dtype())), lanes);
      value = build().expr(ExprOp::select, {state.mask, value, neutral});
    }
    return build().expr(operator_of(o.combine), {before, value});
  }

  KernelEmitter::Place place_for(const State& state) {
    KernelEmitter::Place place;
    place.axes = state.axes;
    if (schedule_.vector >= 0) {
      Reg& along = place.axes[schedule_.vector];
      if (along != kNone) along = build().add(build().splat(along, emit_.lanes()), emit_.iota());
    }
    // The place outlives this call only inside its caller, which keeps `state` alive.
    place.load = [this, state, shared = std::make_shared<std::unordered_map<int, Reg>>()](int access) -> Result<Reg> {
      if (auto found = shared->find(access); found != shared->end()) return found->second;
      return (*shared)[access] = TRY(load(access, state));
    };
    return place;
  }

  Result<Reg> load(int k, const State& state) {
    const NestAccess& a = nest_.accesses[k];
    Memory how;
    Reg within = kNone;
    if (a.within) {
      KernelEmitter::Place place = place_for(state);
      within = TRY(emit_.evaluate(a.within, place));
    }
    const Where at = TRY(where(reads_[k], state.offsets[k], state));
    if (at.lanes == 1 && (within == kNone || build().type(within).lanes == 1)) return load_scalar(k, at.offset, within, state);
    how.stride = at.stride;
    how.offsets = at.offsets;
    how.broadcast = at.lanes == 1;
    how.mask = state.mask;
    if (within != kNone) {
      const Reg lanes = build().splat(within, emit_.lanes());
      how.mask = how.mask == kNone ? lanes : build().expr(ExprOp::logical_and, {how.mask, lanes});
      KernelEmitter::Place place = place_for(state);
      how.fill = build().splat(TRY(emit_.evaluate(a.fill, place)), emit_.lanes());
    }
    return build().load(reads_[k].buffer, at.offset, emit_.lanes(), how);
  }

  /// Out of bounds, element 0 is read and thrown away: every buffer has one.
  Result<Reg> load_scalar(int k, Reg offset, Reg within, const State& state) {
    if (within == kNone) return build().load(reads_[k].buffer, offset, 1);
    const Reg safe = build().expr(ExprOp::select, {within, offset, emit_.integer(0)});
    const Reg value = build().load(reads_[k].buffer, safe, 1);
    KernelEmitter::Place place = place_for(state);
    const Reg fill = TRY(emit_.evaluate(nest_.accesses[k].fill, place));
    return build().expr(ExprOp::select, {within, value, fill});
  }

  struct Where {
    Reg offset = kNone, stride = kNone, offsets = kNone;
    int lanes = 1;  ///< 1: all lanes are at one place
  };

  Result<Where> where(const Cursor& c, Reg offset, const State& state) {
    if (c.affine) {
      const Dim along = schedule_.vector >= 0 && state.axes[schedule_.vector] != kNone ? c.affine->coefficients[schedule_.vector] : Dim(0);
      if (along == Dim(0)) return Where{offset};
      if (along == Dim(1)) return Where{offset, kNone, kNone, emit_.lanes()};
      return Where{offset, emit_.dim(along), kNone, emit_.lanes()};
    }
    KernelEmitter::Place place = place_for(state);
    const Reg at = TRY(emit_.evaluate(c.flat, place));
    if (build().type(at).lanes == 1) return Where{at};
    return Where{emit_.integer(0), kNone, at, emit_.lanes()};
  }

  Result<void> store(size_t k, Reg value, const State& state, KernelEmitter::Place* place) {
    const NestOutput& o = nest_.outputs[k];
    const Where at = TRY(where(writes_[k], state.offsets[nest_.accesses.size() + k], state));
    if (o.dtype != o.value.dtype()) value = build().expr(ExprOp::cast, {value}, o.dtype);
    const int lanes = vector_parallel() ? emit_.lanes() : 1;
    Memory how;
    how.stride = at.stride;
    how.offsets = at.offsets;
    how.mask = vector_parallel() ? state.mask : kNone;
    value = build().splat(value, lanes);
    if (o.within) {
      KernelEmitter::Place fresh = place_for(state);
      const Reg within = TRY(emit_.evaluate(o.within, place ? *place : fresh));
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
      const Reg mask = build().splat(within, lanes);
      how.mask = how.mask == kNone ? mask : build().expr(ExprOp::logical_and, {how.mask, mask});
    }
    build().store(writes_[k].buffer, at.offset, value, how);
    return {};
  }

  KernelEmitter& emit_;
  const Nest& nest_;
  const Schedule schedule_;
  const int64_t unroll_;
  std::vector<Cursor> reads_, writes_;
  Reg from_ = kNone, to_ = kNone;
  bool inside_reduction_ = false;
};

Dim points_inside(const std::vector<Nest>& nests, int outer) {
  Dim points = 0;
  for (const Nest& n : nests) {
    Dim p = 1;
    for (size_t x = outer; x < n.axes.size(); ++x) p = p * n.axes[x].extent;
    points = points + p;
  }
  return points;
}

/// Coordinates of task `t` over the axes, the last one running fastest.
std::vector<Reg> coordinates(KernelEmitter& emit, Reg t, const std::vector<Dim>& extents) {
  std::vector<Reg> out(extents.size(), kNone);
  for (size_t k = extents.size(); k-- > 0;) {
    if (k == 0) {
      out[0] = t;
      break;
    }
    const Reg extent = emit.dim(extents[k]);
    out[k] = emit.build().expr(ExprOp::rem, {t, extent});
    t = emit.build().expr(ExprOp::div, {t, extent});
  }
  return out;
}

void count_work(Kernel& kernel, const std::vector<Nest>& nests) {
  for (const Nest& n : nests) {
    Dim points = 1;
    for (const Axis& a : n.axes) points = points * a.extent;
    const BodyCost cost = cost_of(n);
    kernel.flops = kernel.flops + points * Dim(std::max(1, cost.arithmetic + cost.transcendental));
    kernel.nodes.insert(kernel.nodes.end(), n.nodes.begin(), n.nodes.end());
  }
}

}  // namespace

Result<Kernel> lower_nests(const Group& group, const Tactic& tactic, Plan& plan, const Target& target) {
  Kernel kernel;
  std::vector<Nest> nests = group.nests;
  count_work(kernel, nests);
  KernelEmitter emit(kernel, plan, target, nests.size() == 1 ? "map" : "row");
  std::vector<Schedule> schedules;
  if (nests.size() == 1) {
    schedules.push_back(schedule_alone(nests[0], tactic, plan));
    turn_constants(nests[0], schedules[0].vector, plan);
    if (points_inside(nests, 0) == Dim(0)) kernel.tasks = 0;
  } else {
    for (Nest& n : nests) schedules.push_back(schedule_row(n, group.outer, plan));
  }
  const int outer = schedules[0].outer;
  std::vector<Dim> extents;
  for (int x = 0; x < outer; ++x) extents.push_back(nests[0].axes[x].extent);
  const Dim length = schedules[0].blocked ? nests[0].axes[schedules[0].vector].extent : Dim(0);
  if (schedules[0].blocked) extents.push_back(ceil_div(length, tactic.block));
  kernel.tasks = product(extents);
  const Dim inside = schedules[0].blocked ? Dim(tactic.block) : points_inside(nests, outer);
  kernel.grain = max(Dim(1), floor_div(Dim(tactic.grain), max(Dim(1), inside)));

  Result<void> status;
  emit.build().loop(emit.build().task_begin(), emit.build().task_end(), emit.integer(1), [&](Reg t) {
    std::vector<Reg> axes = coordinates(emit, t, extents);
    Reg from = kNone, to = kNone;
    if (schedules[0].blocked) {
      from = emit.build().mul(axes.back(), emit.integer(tactic.block));
      to = emit.build().min(emit.dim(length), emit.build().add(from, emit.integer(tactic.block)));
      axes.pop_back();
    }
    for (size_t k = 0; k < nests.size() && status; ++k) {
      std::vector<Reg> mine(axes.begin(), axes.begin() + outer);
      NestLowering lowering(emit, nests[k], schedules[k], tactic);
      if (auto r = lowering.run(std::move(mine), from, to); !r) status = std::move(r);
    }
  });
  if (!status) return std::unexpected(status.error());
  emit.finish();
  kernel.tactic = text_of(tactic, GroupKind::nests);
  return kernel;
}

Result<std::vector<Kernel>> lower_loops(const Group& group, const Tactic& tactic, Plan& plan, const Target& target) {
  std::vector<Kernel> kernels;
  Group padded = group;
  std::vector<Nest> before;
  if (group.nests.size() == 1 && is_sum_of_products(group.nests[0]))
    for (NestAccess& a : padded.nests[0].accesses) pad_operand(a, group.nests[0], plan, before);
  for (Nest& n : before) kernels.push_back(TRY(lower_nest(std::move(n), plan, target)));
  kernels.push_back(TRY(lower_nests(padded, tactic, plan, target)));
  return kernels;
}

Result<Kernel> lower_nest(Nest nest, Plan& plan, const Target& target) {
  Group alone;
  alone.nests.push_back(std::move(nest));
  return lower_nests(alone, default_loop_tactic(), plan, target);
}

Result<std::vector<Kernel>> lower_group(const Group& group, const Tactic& tactic, Plan& plan, const Target& target) {
  switch (group.kind) {
    case GroupKind::nests: return lower_loops(group, tactic, plan, target);
    case GroupKind::contract: return lower_contract(group, tactic, plan, target);
    case GroupKind::attention: return lower_attention(group, tactic, plan, target);
    case GroupKind::opaque:
    case GroupKind::control:
    case GroupKind::check:
    case GroupKind::sizes: break;
  }
  return std::vector<Kernel>{};
}

}  // namespace tenon::codegen
