// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/contract_places.h"

#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

/// More arithmetic than this does not fit beside a tile of sums.
constexpr int kLightArithmetic = 6;

}  // namespace

ContractPlaces::ContractPlaces(KernelEmitter& emit, const Group& group, const Tiling& tiling)
    : emit_(emit), lane_axis_(tiling.roles.lanes.back()), rows_place_(tiling.rows), scale_place_(tiling.scale) {
  const Nest& nest = group.nests[0];
  const RoundedRows& rounded = group.as<ContractGroup>().rounded;
  if (rounded.values >= 0) rows_place_ = dense_rows_place(tiling.roles, nest);
  const ArrayId rows = rounded.values >= 0 ? rounded.values : nest.accesses[tiling.roles.rows_operand.accesses[0]].array;
  rows_buffer_ = emit_.buffer(rows, false);
  if (scale_place_) scale_buffer_ = emit_.buffer(nest.accesses[tiling.roles.scale].array, false);
  if (tiling.with_epilogue) epilogue_ = &*group.epilogue;
  for (size_t k = 0; k < tiling.reads.size(); ++k) {
    const bool is_sum = tiling.reads[k].column >= 0;
    reads_.push_back({is_sum ? -1 : emit_.buffer(epilogue_->map.accesses[k].array, false), tiling.reads[k]});
  }
  const std::vector<NestOutput>& outputs = epilogue_ ? epilogue_->map.outputs : nest.outputs;
  for (size_t k = 0; k < tiling.results.size(); ++k)
    results_.push_back({emit_.buffer(outputs[k].array, true), tiling.results[k], outputs[k].dtype});
  const BodyCost cost = epilogue_ ? cost_of(epilogue_->map) : BodyCost{};
  heavy_ = tiling.columns > 1 || cost.transcendental > 0 || cost.arithmetic > kLightArithmetic;
}

/// Scalars that an offset depends on are loaded once for each task.
Result<Reg> ContractPlaces::start_of(const Read& read) {
  const Reg fixed = offset(read.from.place);
  if (read.buffer < 0 || !read.from.loaded) return fixed;
  KernelEmitter::EvalContext place;
  place.load = [&](int k) -> Result<Reg> {
    const Reg at = offset(reads_[k].from.place);
    return emit_.build().load(reads_[k].buffer, at == kNone ? emit_.integer(0) : at, 1);
  };
  return emit_.add_scaled(fixed, Dim(1), TRY(emit_.evaluate(read.from.loaded, place)));
}

Result<ContractPlaces::At> ContractPlaces::start() {
  At at;
  at.rows = offset(rows_place_);
  if (scale_place_) at.scale = offset(*scale_place_);
  for (const Written& w : results_) at.results.push_back(offset(w.place));
  for (const Read& r : reads_) at.reads.push_back(TRY(start_of(r)));
  return at;
}

ContractPlaces::At ContractPlaces::moved(At at, const JointAxis& axis, Reg steps) {
  at.rows = emit_.add_scaled(at.rows, step(rows_place_, axis), steps);
  at.scale = emit_.add_scaled(at.scale, scale_step(axis), steps);
  for (size_t k = 0; k < results_.size(); ++k) at.results[k] = emit_.add_scaled(at.results[k], step(results_[k].place, axis), steps);
  for (size_t k = 0; k < reads_.size(); ++k)
    if (reads_[k].buffer >= 0) at.reads[k] = emit_.add_scaled(at.reads[k], step(reads_[k].from.place, axis), steps);
  return at;
}

Reg ContractPlaces::place_of(const Affine& place, Reg base, int v) {
  const Reg at = emit_.add_scaled(base, step(place, lane_axis_) * Dim(int64_t{v} * emit_.lanes()), emit_.integer(1));
  return at == kNone ? emit_.integer(0) : at;
}

MemoryOptions ContractPlaces::memory_of(const Affine& place, Reg mask) {
  MemoryOptions how;
  how.mask = mask;
  const Dim along = step(place, lane_axis_);
  if (!(along == Dim(1))) how.stride = emit_.dim(along);
  return how;
}

Result<Reg> ContractPlaces::load(int k, const At& at, int v, std::span<const Reg> sums) {
  const Read& r = reads_[k];
  if (r.from.column >= 0) return sums[r.from.column];
  const Affine& place = r.from.place;
  if (step(place, lane_axis_) == Dim(0)) return emit_.build().load(r.buffer, at.reads[k] == kNone ? emit_.integer(0) : at.reads[k], 1);
  return emit_.build().load(r.buffer, place_of(place, at.reads[k], v), emit_.lanes(), memory_of(place, at.masks[v]));
}

Result<void> ContractPlaces::finish(const At& at, int v, std::span<const Reg> sums) {
  TileBuilder& b = emit_.build();
  KernelEmitter::EvalContext place;
  place.load = [&](int k) { return load(k, at, v, sums); };
  for (size_t k = 0; k < results_.size(); ++k) {
    const Written& to = results_[k];
    Reg value = epilogue_ ? TRY(emit_.evaluate(epilogue_->map.outputs[k].value, place)) : sums[0];
    value = b.splat(value, emit_.lanes());
    if (b.type(value).element != to.stored) value = b.expr(ExprOp::cast, {value}, to.stored);
    b.store(to.buffer, place_of(to.place, at.results[k], v), value, memory_of(to.place, at.masks[v]));
  }
  return {};
}

}  // namespace tenon::codegen
