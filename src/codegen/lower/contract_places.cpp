// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/contract_places.h"

#include "codegen/loops/inline.h"

namespace tenon::codegen {

namespace {

/// More arithmetic than this does not fit beside a tile of sums.
constexpr int kLightArithmetic = 6;

}  // namespace

ContractPlaces::ContractPlaces(KernelEmitter& emit, const Group& group, const Tiling& tiling)
    : emit_(emit), lane_axis_(tiling.roles.lanes.back()), rows_place_(tiling.rows) {
  const Nest& nest = group.nests[0];
  rows_buffer_ = emit_.buffer(nest.accesses[tiling.roles.rows_operand.accesses[0]].array, false);
  if (tiling.with_epilogue) epilogue_ = &*group.epilogue;
  for (size_t k = 0; k < tiling.reads.size(); ++k) {
    const bool is_sum = static_cast<int>(k) == epilogue_->accumulator;
    reads_.push_back({is_sum ? -1 : emit_.buffer(epilogue_->map.accesses[k].array, false), tiling.reads[k]});
  }
  const NestOutput& out = epilogue_ ? epilogue_->map.outputs[0] : nest.outputs[0];
  result_ = {emit_.buffer(out.array, true), tiling.result};
  stored_ = out.dtype;
  const BodyCost cost = epilogue_ ? cost_of(epilogue_->map) : BodyCost{};
  heavy_ = cost.transcendental > 0 || cost.arithmetic > kLightArithmetic;
}

ContractPlaces::At ContractPlaces::start() {
  const auto offset = [&](const Affine& place) { return place.offset == Dim(0) ? kNone : emit_.dim(place.offset); };
  At at;
  at.rows = offset(rows_place_);
  at.result = offset(result_.place);
  for (const Place& r : reads_) at.reads.push_back(r.buffer >= 0 ? offset(r.place) : kNone);
  return at;
}

ContractPlaces::At ContractPlaces::moved(At at, const JointAxis& axis, Reg steps) {
  at.rows = emit_.add_scaled(at.rows, step(rows_place_, axis), steps);
  at.result = emit_.add_scaled(at.result, step(result_.place, axis), steps);
  for (size_t k = 0; k < reads_.size(); ++k)
    if (reads_[k].buffer >= 0) at.reads[k] = emit_.add_scaled(at.reads[k], step(reads_[k].place, axis), steps);
  return at;
}

Reg ContractPlaces::place_of(const Affine& place, Reg base, int v) {
  const Reg at = emit_.add_scaled(base, step(place, lane_axis_) * Dim(int64_t{v} * emit_.lanes()), emit_.integer(1));
  return at == kNone ? emit_.integer(0) : at;
}

Memory ContractPlaces::memory_of(const Affine& place, Reg mask) {
  Memory how;
  how.mask = mask;
  const Dim along = step(place, lane_axis_);
  if (!(along == Dim(1))) how.stride = emit_.dim(along);
  return how;
}

Result<Reg> ContractPlaces::with_epilogue(const At& at, int v, Reg sum) {
  KernelEmitter::Place place;
  place.load = [&](int k) -> Result<Reg> {
    if (k == epilogue_->accumulator) return sum;
    const Place& r = reads_[k];
    if (step(r.place, lane_axis_) == Dim(0)) return emit_.build().load(r.buffer, at.reads[k] == kNone ? emit_.integer(0) : at.reads[k], 1);
    return emit_.build().load(r.buffer, place_of(r.place, at.reads[k], v), emit_.lanes(), memory_of(r.place, at.masks[v]));
  };
  return emit_.evaluate(epilogue_->map.outputs[0].value, place);
}

Result<void> ContractPlaces::finish(const At& at, int v, Reg sum) {
  if (epilogue_) sum = TRY(with_epilogue(at, v, sum));
  TileBuilder& b = emit_.build();
  sum = b.splat(sum, emit_.lanes());
  if (b.type(sum).element != stored_) sum = b.expr(ExprOp::cast, {sum}, stored_);
  b.store(result_.buffer, place_of(result_.place, at.result, v), sum, memory_of(result_.place, at.masks[v]));
  return {};
}

}  // namespace tenon::codegen
