// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/contract_kernel.h"

#include <algorithm>
#include <numeric>

#include "codegen/analysis/in_blocks.h"
#include "codegen/cost/contract_cost.h"
#include "codegen/lower/contract_access_patterns.h"
#include "codegen/lower/contract_lowering.h"

namespace tenon::codegen {

namespace {

constexpr int64_t kLineBytes = 64;
/// Rows whose number is dynamic are those of several images, where an image's is known and they fill several tiles.
RowTiles::Run run_of(const JointAxis& axis, int rows, const Nest& nest) {
  if (axis.extent.is_number()) return {.extent = axis.extent};
  Dim times = 1, known = 1;
  for (size_t k = axis.axes.size(); k-- > 0;) {
    const Dim extent = nest.axes[axis.axes[k]].extent;
    if (extent.is_number() && times == Dim(1)) known = known * extent;
    else times = times * extent;
  }
  return known.value() >= int64_t{2} * rows ? RowTiles::Run{times, known} : RowTiles::Run{.extent = axis.extent};
}

}  // namespace

ContractLowering::ContractLowering(Kernel& kernel, const Plan& plan, const Target& target, const ContractTactic& tactic, const Group& group,
                                   const Tiling& tiling, ArrayId packed)
    : kernel_(kernel),
      emit_(kernel, plan, target, "contract"),
      roles_(tiling.roles),
      tactic_(tactic),
      shape_(tactic.tile),
      columns_(tiling.columns),
      bundle_(tiling.columns / std::gcd(tiling.columns, tactic.tile.vectors)),
      blocks_(depth_blocks(roles_.depth, group.as<ContractGroup>().scales < 0 ? tactic.depth : 0)),
      lines_(lines_of(tiling, tactic.tile)),
      line_(lines_ > 1 ? static_cast<int>(roles_.rows.back().extent.value()) : 1),
      tiled_axis_(roles_.rows.size() - (lines_ > 1 ? 2 : 1)),
      units_(units_of(roles_, tiled_axis_, group, tactic)),
      run_(tiled_run(group.nests[0])),
      row_tiles_(emit_, run_, rows_or_lines(), even_tiles()),
      tasks_(emit_, {roles_, row_tiles_, tiled_axis_, units_, panel(), bundle_}, tactic),
      depth_range_(depth_range_of(roles_, group.nests[0], plan)),
      places_(emit_, group, tiling),
      lanes_buffer_(emit_.buffer(packed, false)),
      blocks_format_(block_format_of(group.as<ContractGroup>().scales, plan)),
      rounded_(group.as<ContractGroup>().rounded),
      fetched_line_(plan.arrays[packed].constant && !blocks_format_ ? kLineBytes * 8 / bits_of(plan.arrays[packed].dtype) : 0) {
  const int64_t slots = blocks_.whole() ? bundle_ : tactic_.split * tasks_.most_panels();
  if (places_.is_heavy() || !blocks_.whole()) scratch_ = build().scratch(roles_.sum, slots * slot());
  if (!blocks_format_) return;
  scales_buffer_ = emit_.buffer(group.as<ContractGroup>().scales, false);
  if (rounded_.scales >= 0) {
    row_scales_buffer_ = emit_.buffer(rounded_.scales, false);
    row_sums_buffer_ = emit_.buffer(rounded_.sums, false);
  }
  const DType unpacked = products() == 2 ? DType::bf16 : DType::f32;
  if (reads_unpacked(highest())) unpacked_buffer_ = build().scratch(unpacked, bundle_ * panel_size().value());
}

Result<void> ContractLowering::run() {
  const std::vector<Dim> extents = tasks_.extents();
  kernel_.tasks = product(extents);
  if (units_) kernel_.units = units_->parts;
  const Dim flops = Dim(2) * extent_of(roles_.depth) * lanes_extent() * extent_of(roles_.rows) * extent_of(roles_.batch);
  kernel_.grain = max(Dim(1), floor_div(Dim(tactic_.grain) * kernel_.tasks, max(Dim(1), flops)));
  build().loop(build().task_begin(), build().task_end(), emit_.integer(1), [&](Reg t) { task(t, extents); });
  TRY(std::move(status_));
  emit_.finish();
  return {};
}

Dim ContractLowering::left_out() const {
  if (!depth_range_) return 0;
  const Dim rows = roles_.rows[depth_range_->rows].extent, depth = roles_.depth[0].extent;
  Dim out = rows * depth - steps_that_count(*depth_range_, depth, rows);
  for (size_t k = 0; k < roles_.rows.size(); ++k)
    if (k != depth_range_->rows) out = out * roles_.rows[k].extent;
  for (size_t k = 1; k < roles_.depth.size(); ++k) out = out * roles_.depth[k].extent;
  return out * extent_of(roles_.batch);
}

RowTiles::Run ContractLowering::tiled_run(const Nest& nest) const {
  if (roles_.rows.empty()) return {};
  if (units_ && tiled_axis_ == 0) return {.times = units_->count, .extent = units_->steps};
  return run_of(roles_.rows[tiled_axis_], rows_or_lines(), nest);
}

void ContractLowering::task(Reg t, const std::vector<Dim>& extents) {
  std::vector<Reg> at(extents.size(), kNone);
  for (size_t k = extents.size(); k-- > 1;) {
    const Reg extent = emit_.dim(extents[k]);
    at[k] = build().expr(ExprOp::rem, {t, extent});
    t = build().expr(ExprOp::div, {t, extent});
  }
  at[0] = t;
  Share share{tasks_.deal(at), {}};
  auto start = places_.start();
  if (!start) return void(status_ = std::unexpected(std::move(start).error()));
  share.task = *std::move(start);
  for (size_t k = 0; k < roles_.batch.size(); ++k) {
    const Reg here = at[k + 1];
    share.task = places_.moved(std::move(share.task), roles_.batch[k], here);
    share.first_panel = k == 0 ? here : build().add(build().mul(share.first_panel, emit_.dim(roles_.batch[k].extent)), here);
  }
  if (share.first_panel != kNone) share.first_panel = build().mul(share.first_panel, emit_.dim(tasks_.panels()));
  blocks_.whole() ? run_whole(share) : run_by_blocks(share);
}

void ContractLowering::each_panel(const Share& share, int64_t step, const std::function<void(const PanelShare& part)>& body) {
  build().loop(share.panel, share.panels_end, emit_.integer(step), [&](Reg p) {
    PanelShare part{.task = share.task, .number = build().sub(p, share.panel)};
    const Reg all = share.first_panel == kNone ? p : build().add(share.first_panel, p);
    part.task.lanes = build().mul(all, emit_.dim(panel_size()));
    Reg first_lane = build().mul(p, emit_.integer(panel()));
    if (columns_ > 1) first_lane = build().expr(ExprOp::div, {first_lane, emit_.integer(columns_)});
    part.task = places_.moved(std::move(part.task), roles_.lanes.back(), first_lane);
    part.task.masks = masks_at(first_lane);
    const Reg bundle = bundle_ == 1 ? p : build().expr(ExprOp::div, {p, emit_.integer(bundle_)});
    const Reg before = build().mul(bundle, share.tiles);
    part.tile = build().add(share.tile, build().expr(ExprOp::max, {build().sub(share.from, before), emit_.integer(0)}));
    part.tiles_end = build().add(share.tile, build().min(build().sub(share.to, before), share.tiles));
    body(part);
  });
}

std::vector<Reg> ContractLowering::masks_at(Reg first_lane) {
  std::vector<Reg> masks(shape_.vectors, kNone);
  const Dim lanes = floor_div(lanes_extent(), Dim(columns_));
  if (mod(lanes, Dim(int64_t{columns_ > 1 ? registers_of_bundle() : shape_.vectors} * emit_.lanes())) == Dim(0)) return masks;
  const Reg left = build().sub(emit_.dim(lanes), first_lane);
  for (int v = 0; v < shape_.vectors; ++v)
    masks[v] = build().first_mask(build().sub(left, emit_.integer(int64_t{v} * emit_.lanes())), emit_.lanes());
  return masks;
}

void ContractLowering::each_tile(const Share& share, const PanelShare& part,
                                 const std::function<void(Task task, RowTiles::Tile tile, Reg number)>& body) {
  build().loop(part.tile, part.tiles_end, emit_.integer(1), [&](Reg t) {
    Task task = part.task;
    Reg inner = t;
    if (roles_.rows.size() > 1 && tiled_axis_ > 0) {
      const Reg count = emit_.dim(row_tiles_.count());
      inner = build().expr(ExprOp::rem, {t, count});
      Reg outer = build().expr(ExprOp::div, {t, count});
      for (size_t k = tiled_axis_; k-- > 1;) {
        const Reg extent = emit_.dim(roles_.rows[k].extent);
        task = at_outer_row(std::move(task), k, build().expr(ExprOp::rem, {outer, extent}));
        outer = build().expr(ExprOp::div, {outer, extent});
      }
      task = at_outer_row(std::move(task), 0, outer);
    }
    const RowTiles::Tile tile = row_tiles_.at(inner);
    if (line_ > 1) keep_depth(task, tiled_axis_, tile.row, build().sub(build().add(tile.row, tile.height), emit_.integer(1)));
    body(std::move(task), tile, build().sub(t, share.tile));
  });
}

ContractLowering::Task ContractLowering::at_outer_row(Task task, size_t axis, Reg row) {
  task = places_.moved(std::move(task), roles_.rows[axis], row);
  keep_depth(task, axis, row, row);
  return task;
}

void ContractLowering::run_whole(const Share& share) {
  each_panel(share, bundle_, [&](const PanelShare& part) {
    if (unpacked_buffer_ >= 0) unpack_panels(share, part);
    each_tile(share, part, [&](const Task& at, RowTiles::Tile tile, Reg tile_number) {
      const Reg fetch = fetch_at(part.task.lanes, tile_number);
      row_tiles_.emit(tile, [&](Reg row, int height) {
        const Task task = at_row(at, row);
        const auto sums_of = [&](Reg lanes, Reg asked) {
          std::vector<Reg> sums(static_cast<size_t>(height) * line_ * shape_.vectors, kNone);
          return contract(0, height, {known(task.rows), lanes, asked, task.scale, task.depth}, std::move(sums));
        };
        const Reg first = reads_unpacked(height * line_) ? emit_.integer(0) : task.lanes;
        if (!places_.is_heavy()) return finish_in_registers(task, height, sums_of(first, fetch));
        each_of_bundle(share, part.number, [&](Reg k) {
          const Reg further = bundle_ == 1 ? kNone : build().mul(k, emit_.dim(panel_size()));
          const auto moved = [&](Reg at) { return at == kNone || further == kNone ? at : build().add(at, further); };
          store_sums(build().mul(k, emit_.integer(slot())), sums_of(moved(first), moved(fetch)));
        });
        finish_stored(task, emit_.integer(0), slot(), emit_.integer(height));
      });
    });
  });
}

void ContractLowering::each_of_bundle(const Share& share, Reg number, const std::function<void(Reg k)>& body) {
  if (bundle_ == 1) return body(emit_.integer(0));
  const Reg left = build().sub(build().sub(share.panels_end, share.panel), number);
  build().loop(emit_.integer(0), build().min(left, emit_.integer(bundle_)), emit_.integer(1), body);
}

Reg ContractLowering::fetch_at(Reg panel_place, Reg tile_number) {
  if (tactic_.prefetch == 0 || fetched_line_ == 0) return kNone;
  const Reg next = build().add(panel_place, emit_.dim(panel_size()));
  return build().add(next, build().mul(tile_number, emit_.dim(fetch_step(panel_size()))));
}

void ContractLowering::run_by_blocks(const Share& share) {
  clear_sums(share);
  each_block(0, share.task, emit_.integer(0), [&](const Task& at_block, Reg b, const DepthSlice& slice) {
    Share here = share;
    here.task = at_block;
    each_panel(here, 1, [&](const PanelShare& part) {
      each_tile(here, part, [&](const Task& at, RowTiles::Tile tile, Reg tile_number) {
        const Reg place = slot_of(part.number, tile_number);
        where_it_counts(at, slice, [&] {
          row_tiles_.emit(tile, [&](Reg row, int height) {
            const Reg sums_at = build().add(place, build().mul(build().sub(row, tile.row), emit_.integer(line_ * panel())));
            const Task task = at_row(at, row);
            store_sums(sums_at, contract(slice.axis, height, {known(task.rows), build().add(task.lanes, b), kNone, task.scale},
                                         load_sums(sums_at, height * line_), slice));
          });
        });
      });
    });
  });
  each_panel(share, bundle_, [&](const PanelShare& part) {
    each_tile(share, part, [&](const Task& at, RowTiles::Tile tile, Reg tile_number) {
      finish_stored(at_row(at, tile.row), slot_of(part.number, tile_number), tactic_.split * slot(), tile.height);
    });
  });
}

void ContractLowering::where_it_counts(const Task& at, const DepthSlice& slice, const std::function<void()>& body) {
  if (at.depth.from == kNone || slice.step == kNone) return body();
  const Reg begun = build().expr(ExprOp::less_equal, {at.depth.from, slice.step});
  const Reg counts = build().expr(ExprOp::logical_and, {begun, build().expr(ExprOp::less, {slice.step, at.depth.to})});
  const auto then = [&] {
    body();
    return std::vector<Reg>{};
  };
  build().branch(counts, then, [] { return std::vector<Reg>{}; });
}

void ContractLowering::each_block(size_t k, const Task& at, Reg b,
                                  const std::function<void(const Task& at, Reg b, const DepthSlice& slice)>& body, Reg step) {
  const auto moved = [&](const JointAxis& axis, Dim b_step, Reg i) {
    Task task = at;
    task.rows = emit_.add_scaled(task.rows, places_.rows_step(axis), i);
    task.scale = emit_.add_scaled(task.scale, places_.scale_step(axis), i);
    return std::pair(std::move(task), emit_.add_scaled(b, b_step, i));
  };
  if (k < blocks_.outer) {
    build().loop(emit_.integer(0), emit_.dim(roles_.depth[k].extent), emit_.integer(1), [&](Reg i) {
      const auto [task, b_here] = moved(roles_.depth[k], packed_step(k), i);
      each_block(k + 1, task, b_here, body, k == 0 ? i : step);
    });
    return;
  }
  if (blocks_.inner == 0) return body(at, b, {k, kNone, step});
  const Reg extent = emit_.dim(roles_.depth[k].extent), block = emit_.integer(blocks_.inner);
  build().loop(emit_.integer(0), extent, block, [&](Reg i) {
    const auto [task, b_here] = moved(roles_.depth[k], packed_step(k), i);
    body(task, b_here, {k, build().min(block, build().sub(extent, i)), step});
  });
}

Dim ContractLowering::packed_step(size_t k) const {
  if (k + 1 == roles_.depth.size()) return Dim(panel());
  Dim out = Dim(panel()) * run();
  for (size_t inner = k + 1; inner + 1 < roles_.depth.size(); ++inner) out = out * roles_.depth[inner].extent;
  return out;
}

Result<Kernel> lower_tiles(const Group& group, const Tiling& tiling, ArrayId packed, const ContractTactic& tactic, const Plan& plan,
                           const Target& target) {
  Kernel kernel;
  ContractLowering lowering(kernel, plan, target, tactic, group, tiling, packed);
  TRY(lowering.run());
  const Nest& nest = group.nests[0];
  Dim points = 1;
  for (const ops::Axis& a : nest.axes) points = points * a.extent;
  ProductWork work = product_work(tiling.roles, tactic.tile, target);
  work.tile.rows = lowering.highest();
  work.skipped_products = lowering.left_out();
  kernel.flops = (points - work.skipped_products * work.lanes) * Dim(2);
  kernel.nodes = nest.nodes;
  kernel.tactic = text_of(tactic);
  kernel.work.access_patterns = contract_access_patterns(group, tiling, lowering.tasks().extents(), kernel.arguments, plan);
  if (tiling.with_epilogue) kernel.work.loops = {epilogue_work(*group.epilogue, work.lanes, plan)};
  kernel.work.products = {std::move(work)};
  if (tiling.with_epilogue) kernel.nodes.insert(kernel.nodes.end(), group.epilogue->map.nodes.begin(), group.epilogue->map.nodes.end());
  return kernel;
}

}  // namespace tenon::codegen
