// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>

#include "codegen/lower/block_unpacker.h"
#include "codegen/lower/contract_places.h"
#include "codegen/lower/contract_tasks.h"
#include "codegen/lower/depth_blocks.h"
#include "codegen/lower/row_tiles.h"

namespace tenon::codegen {

/// What a block contracts: the axes from `axis` on, of the last one `length` products.
struct DepthSlice {
  size_t axis = 0;
  Reg length = kNone;  ///< kNone: all
  Reg step = kNone;    ///< of the outermost depth, where it is a step of that alone
};

/// Emits the kernel of a contraction: register tiles over packed panels, task by task.
class ContractLowering {
 public:
  ContractLowering(Kernel& kernel, const Plan& plan, const Target& target, const ContractTactic& tactic, const Group& group,
                   const Tiling& tiling, ArrayId packed);

  Result<void> run();

  const ContractTasks& tasks() const { return tasks_; }

  /// Rows of the highest tile that there is.
  int highest() const { return row_tiles_.highest() * line_; }

  /// Products of each lane that are left out, since they stand in the padding.
  Dim left_out() const;

 private:
  using Task = ContractPlaces::At;

  TileBuilder& build() { return emit_.build(); }
  int64_t panel() const { return int64_t{shape_.vectors} * emit_.lanes(); }
  /// Elements of scratch memory for the sums of a tile.
  int64_t slot() const { return shape_.rows * panel(); }
  /// Registers of each column in a bundle of panels.
  int registers_of_bundle() const { return static_cast<int>(bundle_) * shape_.vectors / columns_; }
  Dim lanes_extent() const { return extent_of(roles_.lanes); }
  /// Products of the innermost depth, with the zeros that fill up its last group.
  Dim run() const { return ceil_div(roles_.depth.back().extent, Dim(roles_.group)) * Dim(roles_.group); }

  /// The tiled axis; of a region's units tiles do not cross the ends.
  RowTiles::Run tiled_run(const Nest& nest) const;

  int rows_or_lines() const { return lines_ > 1 ? lines_ : shape_.rows; }
  /// Where parts of the rows are tasks, they have equally many tiles.
  int64_t even_tiles() const {
    const bool parts = !units_ && roles_.rows.size() == 1 && tactic_.by_rows > 0 && !run_.extent.less(Dim(tactic_.by_rows)).value_or(true);
    return parts ? emit_.target().plan_limits.row_parts : 1;
  }

  Reg known(Reg sum) { return sum == kNone ? emit_.integer(0) : sum; }

  /// What a task takes, of the operands' part of its batch.
  struct Share : TaskRange {
    Task task;
    Reg first_panel = kNone;  ///< of the batch's part
  };

  /// Tiles [tile, tiles_end) of a panel.
  struct PanelShare {
    Task task;
    Reg number = kNone;  ///< of the (first) panel within the task
    Reg tile = kNone, tiles_end = kNone;
  };

  void task(Reg t, const std::vector<Dim>& extents);

  /// The body once for each panel, or for each bundle.
  void each_panel(const Share& share, int64_t step, const std::function<void(const PanelShare& part)>& body);

  /// Lanes beyond the first axis are cut into panels as one product; only a single joint axis has steps that can be added.
  std::vector<Reg> masks_at(Reg first_lane);

  /// The body once for each tile of rows, whose outer rows axes `task` then has after it.
  void each_tile(const Share& share, const PanelShare& part, const std::function<void(Task task, RowTiles::Tile tile, Reg number)>& body);

  Task at_outer_row(Task task, size_t axis, Reg row);

  /// Leaves out steps that none of these rows of the axis needs.
  void keep_depth(Task& task, size_t axis, Reg first, Reg last) {
    if (depth_range_ && depth_range_->rows == axis) task.depth = steps_of(*depth_range_, roles_.depth[0].extent, first, last, emit_);
  }

  /// Row or line of a tile.
  Task at_row(const Task& task, Reg row) { return roles_.rows.empty() ? task : places_.moved(task, roles_.rows[tiled_axis_], row); }
  Task within_line(const Task& task, Reg row) { return line_ == 1 ? task : places_.moved(task, roles_.rows.back(), row); }

  void run_whole(const Share& share);

  /// The body once for each panel of the bundle whose first one has that number in the task.
  void each_of_bundle(const Share& share, Reg number, const std::function<void(Reg k)>& body);

  /// What a tile prefetches of the panel behind its own: a part of it, so that weights come from memory while all tiles of a panel compute.
  Reg fetch_at(Reg panel_place, Reg tile_number);

  /// How far what is asked for moves while so many elements of a panel are read.
  Dim fetch_step(Dim packed) const {
    return floor_div(packed * Dim(fetched_line_), Dim(Contract::kStepsPerPrefetch * panel() * roles_.group));
  }

  /// The sums of a tile of the task, in scratch memory.
  Reg slot_of(Reg panel_number, Reg tile_number) {
    const Reg row = build().mul(panel_number, emit_.integer(tactic_.split));
    return build().mul(build().add(row, tile_number), emit_.integer(slot()));
  }

  void run_by_blocks(const Share& share);

  /// A block of one step of the outermost depth may have nothing for a tile.
  void where_it_counts(const Task& at, const DepthSlice& slice, const std::function<void()>& body);

  /// b: how far the block lies in a panel.
  void each_block(size_t k, const Task& at, Reg b, const std::function<void(const Task& at, Reg b, const DepthSlice& slice)>& body,
                  Reg step = kNone);

  /// Of a depth axis, in a panel.
  Dim packed_step(size_t k) const;
  Dim panel_size() const { return roles_.depth.size() == 1 ? Dim(panel()) * run() : packed_step(0) * roles_.depth[0].extent; }

  Reg zeros() { return build().splat(emit_.constant({roles_.sum, 1}, ExprNode()), emit_.lanes()); }

  void clear_sums(const Share& share);

  std::vector<Reg> load_sums(Reg place, int height);

  void store_sums(Reg place, const std::vector<Reg>& sums) {
    for (size_t k = 0; k < sums.size(); ++k)
      build().store(scratch_, build().add(place, emit_.integer(static_cast<int64_t>(k) * emit_.lanes())), sums[k]);
  }

  Reg groups_in(Reg products) {
    if (roles_.group == 1) return products;
    return build().expr(ExprOp::div, {build().add(products, emit_.integer(roles_.group - 1)), emit_.integer(roles_.group)});
  }

  /// Where a contraction reads its operands and the scale, and what it prefetches meanwhile (kNone: nothing).
  struct Reads {
    Reg rows = kNone, lanes = kNone, fetch = kNone, scale = kNone;
    DepthSteps outermost = {};  ///< of a contraction over all of the depth
  };

  /// The outer depth axes are loops that carry the accumulators; the innermost is the contraction's own.
  std::vector<Reg> contract(size_t k, int rows, const Reads& at, std::vector<Reg> sums, const DepthSlice& slice = {});

  // Panels of blocks (contract_blocks.cpp).

  /// Tiles that unpack blocks in registers; higher ones read panels that the task unpacks before. With rows of bytes all do.
  bool unpacks_in_registers(int rows) const {
    return rounded_.scales >= 0 || (line_ == 1 && (rows + 3) * shape_.vectors < emit_.target().registers);
  }
  bool reads_unpacked(int rows) const { return blocks_format_ && !unpacks_in_registers(rows); }
  BlockUnpacker unpacker();
  /// The body for all steps of the panel that begins at that element, in order.
  std::vector<Reg> each_block_step(Reg panel_at, std::vector<Reg> carried, const BlockUnpacker::Steps& body);
  /// Fills panels of f32, or of pairs of bf16, where a tile of the task reads them.
  void unpack_panels(const Share& share, const PanelShare& part);
  /// Where each row of a tile begins.
  std::vector<Reg> row_starts(int rows, const Reads& at);
  std::vector<Reg> contract_blocks(int rows, const Reads& at, std::vector<Reg> sums);
  std::vector<Reg> contract_pairs(int rows, const Reads& at, std::vector<Reg> sums);
  std::vector<Reg> contract_bytes(int rows, const Reads& at, std::vector<Reg> sums);
  /// Adds the integers of a run to the sums.
  void add_run(const BlockUnpacker::Run& run, const std::vector<Reg>& starts, const std::vector<Reg>& integers,
               const std::function<Reg(size_t k)>& sum_of, const std::function<void(size_t k, Reg sum)>& set_sum);
  /// Neighbours of the depth that one instruction multiplies.
  int products() const { return rounded_.values >= 0 && rounded_.scales < 0 ? 2 : roles_.group; }

  void finish_in_registers(const Task& task, int rows, const std::vector<Reg>& sums);

  /// Row by row: an epilogue that needs many registers does not hold the tile too. `step`: from one panel of a bundle to the next.
  void finish_stored(const Task& task, Reg place, int64_t step, Reg rows);

  void finish(const Task& task, int v, std::span<const Reg> sums) {
    if (auto r = places_.finish(task, v, sums); !r && status_) status_ = std::move(r);
  }

  Kernel& kernel_;
  KernelEmitter emit_;
  const Contraction& roles_;
  const ContractTactic& tactic_;
  const Tile shape_;
  const int columns_;     ///< registers of a panel belong to the columns in alternation
  const int64_t bundle_;  ///< panels that hold whole turns
  const DepthBlocks blocks_;
  const int lines_, line_;            ///< of a tile, where it takes several lines; rows of a line. A row counts as a line else
  const size_t tiled_axis_;           ///< of the rows: the one whose steps are a tile's rows or lines
  const std::optional<Units> units_;  ///< of a region
  const RowTiles::Run run_;           ///< of that axis
  RowTiles row_tiles_;
  ContractTasks tasks_;
  const std::optional<DepthRange> depth_range_;
  ContractPlaces places_;
  int32_t lanes_buffer_ = -1, scratch_ = -1;
  const BlockFormat* blocks_format_ = nullptr;  ///< of panels in blocks; null: they are elements
  const RoundedRows rounded_;
  int32_t row_scales_buffer_ = -1, row_sums_buffer_ = -1, sums_buffer_ = -1;  ///< of rows of bytes; the last one is scratch memory
  int32_t scales_buffer_ = -1, unpacked_buffer_ = -1;                         ///< of blocks; f32 or bf16, of a bundle
  const int64_t fetched_line_;  ///< elements of weights that are asked for at once; 0: they were just written
  Result<void> status_;
};

}  // namespace tenon::codegen
