// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/contract_tasks.h"

#include <algorithm>

namespace tenon::codegen {

namespace {

/// Fewer rows of a unit leave tiles too low.
constexpr int64_t kLeastRowsOfUnit = 7;

}  // namespace

std::optional<Units> units_of(const Contraction& roles, size_t tiled, const Group& group, const ContractTactic& tactic) {
  if (!group.region || tactic.by_rows == 0 || roles.rows.empty()) return std::nullopt;
  const Region& region = *group.region;
  std::vector<int> axes;
  for (size_t k = 0; k < std::max<size_t>(tiled, 1); ++k) axes.insert(axes.end(), roles.rows[k].axes.begin(), roles.rows[k].axes.end());
  if (std::ranges::mismatch(region.axes, axes).in1 != region.axes.end()) return std::nullopt;
  Units out{.count = region.units, .steps = 1, .parts = region.parts};
  for (size_t k = region.axes.size(); k < axes.size(); ++k) out.steps = out.steps * group.nests[0].axes[axes[k]].extent;
  if (tiled > 0) return out;
  if (const auto equal = exact_quotient(region.units, region.parts))
    return Units{.count = region.parts, .steps = *equal * out.steps, .parts = region.parts};
  return out.steps.is_number() && out.steps.value() >= kLeastRowsOfUnit ? std::optional(out) : std::nullopt;
}

ContractTasks::ContractTasks(KernelEmitter& emit, const Whole& whole, const ContractTactic& tactic)
    : emit_(emit),
      batch_(whole.roles.batch),
      units_(whole.units),
      bundle_(whole.bundle),
      most_bundles_(std::max<int64_t>(1, tactic.panels / whole.bundle)) {
  tiles_ = whole.tiles.count();
  for (size_t k = 0; k < whole.tiled && k < whole.roles.rows.size(); ++k) tiles_ = tiles_ * whole.roles.rows[k].extent;
  panels_ = ceil_div(extent_of(whole.roles.lanes), Dim(whole.panel));
  bundles_ = ceil_div(panels_, Dim(bundle_));
  const Dim by_rows = tactic.by_rows > 0 ? less_than(Dim(tactic.by_rows - 1), extent_of(whole.roles.rows)) : Dim(0);
  parts_ = select(by_rows, max(Dim(1), min(tiles_, Dim(emit_.target().plan_limits.row_parts))), Dim(1));
  Dim of_part = ceil_div(tiles_, parts_);
  if (units_) {
    tiles_of_unit_ = whole.tiled == 0 ? whole.tiles.of_each() : units_->steps * whole.tiles.count();
    parts_ = units_->parts;
    of_part = ceil_div(units_->count, parts_) * tiles_of_unit_;
  }
  chunks_ = ceil_div(of_part, Dim(tactic.split));
  set_groups(tactic, by_rows);
}

void ContractTasks::set_groups(const ContractTactic& tactic, Dim by_rows) {
  // Few rows do not keep a panel long: then more tasks are better than larger ones.
  const Dim most = select(less_than(Dim(tactic.split / 2), tiles_), Dim(most_bundles_), Dim(1));
  groups_ = ceil_div(bundles_, most);
  if (!batch_.empty() || units_) return;
  // Five panels on two threads are as many for each where a task may end within a panel.
  groups_ = select(
      by_rows, groups_,
      min(ceil_div(groups_, Dim(emit_.target().plan_limits.row_parts)) * Dim(emit_.target().plan_limits.row_parts), bundles_ * tiles_));
}

std::vector<Dim> ContractTasks::extents() const {
  std::vector<Dim> out{parts_};
  for (const JointAxis& a : batch_) out.push_back(a.extent);
  out.insert(out.end(), {groups_, chunks_});
  return out;
}

Reg ContractTasks::begin_of(Reg k, Dim parts, Reg all) {
  return emit_.build().expr(ExprOp::div, {emit_.build().mul(k, all), emit_.dim(parts)});
}

/// Tiles of parts that are whole units, or of all chunks alike.
TaskRange ContractTasks::tiles_of(const std::vector<Reg>& at) {
  TileBuilder& b = emit_.build();
  const auto next = [&](Reg k) { return b.add(k, emit_.integer(1)); };
  const auto unit = [&](Reg k) { return b.mul(begin_of(k, parts_, emit_.dim(units_->count)), emit_.dim(tiles_of_unit_)); };
  const Reg chunk = units_ ? at.back() : b.add(b.mul(at.front(), emit_.dim(chunks_)), at.back());
  const Reg first = units_ ? unit(at.front()) : emit_.integer(0);
  const Reg tiles = units_ ? b.sub(unit(next(at.front())), first) : emit_.dim(tiles_);
  const Dim chunks = units_ ? chunks_ : parts_ * chunks_;
  const Reg begin = begin_of(chunk, chunks, tiles);
  return {.tile = b.add(first, begin), .tiles = b.sub(begin_of(next(chunk), chunks, tiles), begin)};
}

TaskRange ContractTasks::deal(const std::vector<Reg>& at) {
  TileBuilder& b = emit_.build();
  TaskRange out = tiles_of(at);
  const Reg group = at[at.size() - 2];
  const Reg all = b.mul(emit_.dim(bundles_), out.tiles), of_a_bundle = b.expr(ExprOp::max, {out.tiles, emit_.integer(1)});
  out.from = begin_of(group, groups_, all);
  out.to = begin_of(b.add(group, emit_.integer(1)), groups_, all);
  const auto panel_of = [&](Reg tile) {
    const Reg bundle = b.expr(ExprOp::div, {tile, of_a_bundle});
    return bundle_ == 1 ? bundle : b.min(b.mul(bundle, emit_.integer(bundle_)), emit_.dim(panels_));
  };
  out.panel = panel_of(out.from);
  out.panels_end = panel_of(b.add(out.to, b.sub(of_a_bundle, emit_.integer(1))));
  return out;
}

}  // namespace tenon::codegen
