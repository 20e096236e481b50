// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/contract_kernel.h"

#include <algorithm>
#include <numeric>

#include "codegen/cost/contract_cost.h"
#include "codegen/lower/contract_places.h"
#include "codegen/lower/contract_tasks.h"
#include "codegen/lower/contract_walks.h"
#include "codegen/lower/depth_blocks.h"
#include "codegen/lower/row_tiles.h"

namespace tenon::codegen {

namespace {

constexpr int64_t kLineBytes = 64;
/// Rows whose number only the run knows are those of several images, where an image's is known and they fill several tiles.
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

/// What a block contracts: the axes from `axis` on, of the last one `length` products.
struct DepthSlice {
  size_t axis = 0;
  Reg length = kNone;  ///< kNone: all
  Reg step = kNone;    ///< of the outermost depth, where it is a step of that alone
};

class ContractLowering {
 public:
  ContractLowering(Kernel& kernel, const Plan& plan, const Target& target, const Tactic& tactic, const Group& group, const Tiling& tiling,
                   ArrayId packed)
      : kernel_(kernel),
        emit_(kernel, plan, target, "contract"),
        roles_(tiling.roles),
        tactic_(tactic),
        shape_(tactic.tile),
        columns_(tiling.columns),
        bundle_(tiling.columns / std::gcd(tiling.columns, tactic.tile.vectors)),
        blocks_(depth_blocks(roles_.depth, tactic.depth)),
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
        fetched_line_(plan.arrays[packed].constant ? kLineBytes * 8 / bits_of(plan.arrays[packed].dtype) : 0) {
    const int64_t slots = blocks_.whole() ? bundle_ : tactic_.split * tasks_.most_panels();
    if (places_.is_heavy() || !blocks_.whole()) scratch_ = build().scratch(roles_.sum, slots * slot());
  }

  Result<void> run() {
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

  const ContractTasks& tasks() const { return tasks_; }

  /// Rows of the highest tile that there is.
  int highest() const { return row_tiles_.highest() * line_; }

  /// Products of each lane that are left out, since they stand in the padding.
  Dim left_out() const {
    if (!depth_range_) return 0;
    const Dim rows = roles_.rows[depth_range_->rows].extent, depth = roles_.depth[0].extent;
    Dim out = rows * depth - steps_that_count(*depth_range_, depth, rows);
    for (size_t k = 0; k < roles_.rows.size(); ++k)
      if (k != depth_range_->rows) out = out * roles_.rows[k].extent;
    for (size_t k = 1; k < roles_.depth.size(); ++k) out = out * roles_.depth[k].extent;
    return out * extent_of(roles_.batch);
  }

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
  RowTiles::Run tiled_run(const Nest& nest) const {
    if (roles_.rows.empty()) return {};
    if (units_ && tiled_axis_ == 0) return {.times = units_->count, .extent = units_->steps};
    return run_of(roles_.rows[tiled_axis_], rows_or_lines(), nest);
  }

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

  void task(Reg t, const std::vector<Dim>& extents) {
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

  /// The body once for each panel, or for each bundle.
  void each_panel(const Share& share, int64_t step, const std::function<void(const PanelShare& part)>& body) {
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

  /// Lanes beyond the first axis are cut into panels as one product; only a single joint axis has steps that can be added.
  std::vector<Reg> masks_at(Reg first_lane) {
    std::vector<Reg> masks(shape_.vectors, kNone);
    const Dim lanes = floor_div(lanes_extent(), Dim(columns_));
    if (mod(lanes, Dim(int64_t{columns_ > 1 ? registers_of_bundle() : shape_.vectors} * emit_.lanes())) == Dim(0)) return masks;
    const Reg left = build().sub(emit_.dim(lanes), first_lane);
    for (int v = 0; v < shape_.vectors; ++v)
      masks[v] = build().first_mask(build().sub(left, emit_.integer(int64_t{v} * emit_.lanes())), emit_.lanes());
    return masks;
  }

  /// The body once for each tile of rows, whose outer rows axes `task` then has after it.
  void each_tile(const Share& share, const PanelShare& part, const std::function<void(Task task, RowTiles::Tile tile, Reg number)>& body) {
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

  Task at_outer_row(Task task, size_t axis, Reg row) {
    task = places_.moved(std::move(task), roles_.rows[axis], row);
    keep_depth(task, axis, row, row);
    return task;
  }

  /// Leaves out steps that none of these rows of the axis needs.
  void keep_depth(Task& task, size_t axis, Reg first, Reg last) {
    if (depth_range_ && depth_range_->rows == axis) task.depth = steps_of(*depth_range_, roles_.depth[0].extent, first, last, emit_);
  }

  /// Row or line of a tile.
  Task at_row(const Task& task, Reg row) { return roles_.rows.empty() ? task : places_.moved(task, roles_.rows[tiled_axis_], row); }
  Task within_line(const Task& task, Reg row) { return line_ == 1 ? task : places_.moved(task, roles_.rows.back(), row); }

  void run_whole(const Share& share) {
    each_panel(share, bundle_, [&](const PanelShare& part) {
      each_tile(share, part, [&](const Task& at, RowTiles::Tile tile, Reg tile_number) {
        const Reg fetch = fetch_at(part.task.lanes, tile_number);
        row_tiles_.emit(tile, [&](Reg row, int height) {
          const Task task = at_row(at, row);
          const auto sums_of = [&](Reg lanes, Reg asked) {
            std::vector<Reg> sums(static_cast<size_t>(height) * line_ * shape_.vectors, kNone);
            return contract(0, height, {known(task.rows), lanes, asked, task.scale, task.depth}, std::move(sums));
          };
          if (!places_.is_heavy()) return finish_in_registers(task, height, sums_of(task.lanes, fetch));
          each_of_bundle(share, part.number, [&](Reg k) {
            const Reg further = bundle_ == 1 ? kNone : build().mul(k, emit_.dim(panel_size()));
            const auto moved = [&](Reg at) { return at == kNone || further == kNone ? at : build().add(at, further); };
            store_sums(build().mul(k, emit_.integer(slot())), sums_of(moved(task.lanes), moved(fetch)));
          });
          finish_stored(task, emit_.integer(0), slot(), emit_.integer(height));
        });
      });
    });
  }

  /// The body once for each panel of the bundle whose first one has that number in the task.
  void each_of_bundle(const Share& share, Reg number, const std::function<void(Reg k)>& body) {
    if (bundle_ == 1) return body(emit_.integer(0));
    const Reg left = build().sub(build().sub(share.panels_end, share.panel), number);
    build().loop(emit_.integer(0), build().min(left, emit_.integer(bundle_)), emit_.integer(1), body);
  }

  /// What a tile asks for of the panel behind its own: a share of it, so that weights come from memory while all tiles of a panel compute.
  Reg fetch_at(Reg panel_place, Reg tile_number) {
    if (tactic_.prefetch == 0 || fetched_line_ == 0) return kNone;
    const Reg next = build().add(panel_place, emit_.dim(panel_size()));
    return build().add(next, build().mul(tile_number, emit_.dim(fetch_step(panel_size()))));
  }

  /// How far what is asked for moves while so many elements of a panel are read.
  Dim fetch_step(Dim packed) const { return floor_div(packed * Dim(fetched_line_), Dim(Contract::kStepsALine * panel() * roles_.group)); }

  /// The sums of a tile of the task, in scratch memory.
  Reg slot_of(Reg panel_number, Reg tile_number) {
    const Reg row = build().mul(panel_number, emit_.integer(tactic_.split));
    return build().mul(build().add(row, tile_number), emit_.integer(slot()));
  }

  void run_by_blocks(const Share& share) {
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

  /// A block of one step of the outermost depth may have nothing for a tile.
  void where_it_counts(const Task& at, const DepthSlice& slice, const std::function<void()>& body) {
    if (at.depth.from == kNone || slice.step == kNone) return body();
    const Reg begun = build().expr(ExprOp::less_equal, {at.depth.from, slice.step});
    const Reg counts = build().expr(ExprOp::logical_and, {begun, build().expr(ExprOp::less, {slice.step, at.depth.to})});
    const auto then = [&] {
      body();
      return std::vector<Reg>{};
    };
    build().branch(counts, then, [] { return std::vector<Reg>{}; });
  }

  /// b: how far the block lies in a panel.
  void each_block(size_t k, const Task& at, Reg b, const std::function<void(const Task& at, Reg b, const DepthSlice& slice)>& body,
                  Reg step = kNone) {
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

  /// Of a depth axis, in a panel.
  Dim packed_step(size_t k) const {
    if (k + 1 == roles_.depth.size()) return Dim(panel());
    Dim out = Dim(panel()) * run();
    for (size_t inner = k + 1; inner + 1 < roles_.depth.size(); ++inner) out = out * roles_.depth[inner].extent;
    return out;
  }
  Dim panel_size() const { return roles_.depth.size() == 1 ? Dim(panel()) * run() : packed_step(0) * roles_.depth[0].extent; }

  Reg zeros() { return build().splat(emit_.constant({roles_.sum, 1}, ExprNode()), emit_.lanes()); }

  void clear_sums(const Share& share) {
    const Reg zero = zeros();
    const Reg panels = build().sub(share.panels_end, share.panel);
    build().loop(emit_.integer(0), panels, emit_.integer(1), [&](Reg p) {
      const Reg from = slot_of(p, emit_.integer(0));
      build().loop(from, build().add(from, build().mul(share.tiles, emit_.integer(slot()))), emit_.integer(emit_.lanes()),
                   [&](Reg at) { build().store(scratch_, at, zero); });
    });
  }

  std::vector<Reg> load_sums(Reg place, int height) {
    std::vector<Reg> sums;
    for (int k = 0; k < height * shape_.vectors; ++k)
      sums.push_back(build().load(scratch_, build().add(place, emit_.integer(int64_t{k} * emit_.lanes())), emit_.lanes()));
    return sums;
  }

  void store_sums(Reg place, const std::vector<Reg>& sums) {
    for (size_t k = 0; k < sums.size(); ++k)
      build().store(scratch_, build().add(place, emit_.integer(static_cast<int64_t>(k) * emit_.lanes())), sums[k]);
  }

  Reg groups_in(Reg products) {
    if (roles_.group == 1) return products;
    return build().expr(ExprOp::div, {build().add(products, emit_.integer(roles_.group - 1)), emit_.integer(roles_.group)});
  }

  /// Where a contraction reads its operands and the scale, and what it asks for meanwhile (kNone: nothing).
  struct Reads {
    Reg rows = kNone, lanes = kNone, fetch = kNone, scale = kNone;
    DepthSteps outermost = {};  ///< of a contraction over all of the depth
  };

  /// The outer depth axes are loops that carry the accumulators; the innermost is the contraction's own.
  std::vector<Reg> contract(size_t k, int rows, const Reads& at, std::vector<Reg> sums, const DepthSlice& slice = {}) {
    if (k + 1 == roles_.depth.size()) {
      const JointAxis& inner = roles_.depth[k];
      const Dim a_step = places_.rows_step(inner);
      Contract c;
      c.rows = rows * line_;
      c.vectors = shape_.vectors;
      c.lanes = emit_.lanes();
      c.a = places_.rows_buffer();
      c.b = lanes_buffer_;
      c.a_offset = at.rows;
      c.a_row = emit_.dim(roles_.rows.empty() ? Dim(0) : places_.rows_step(roles_.rows.back()));
      if (line_ > 1) c.line = line_, c.a_line = emit_.dim(places_.rows_step(roles_.rows[tiled_axis_]));
      c.a_k = a_step == Dim(1) ? kNone : emit_.dim(a_step);
      c.b_offset = at.lanes;
      c.b_k = emit_.integer(panel() * roles_.group);
      c.depth = slice.length == kNone ? emit_.dim(ceil_div(inner.extent, Dim(roles_.group))) : groups_in(slice.length);
      c.accumulator = roles_.sum;
      c.products = roles_.group;
      c.prefetch_b_bytes = static_cast<int>(tactic_.prefetch);
      c.fetch = at.fetch;
      c.scale = places_.scale_buffer();
      c.scale_offset = at.scale;
      if (c.scale >= 0) c.scale_k = emit_.dim(places_.scale_step(inner));
      c.accumulators_in = std::move(sums);
      return build().contract(std::move(c));
    }
    if (sums[0] == kNone) {
      const Reg nothing = zeros();
      std::fill(sums.begin(), sums.end(), nothing);
    }
    const bool some = at.outermost.from != kNone;
    const Reg from = some ? at.outermost.from : emit_.integer(0), to = some ? at.outermost.to : emit_.dim(roles_.depth[k].extent);
    return build().loop(from, to, emit_.integer(1), std::move(sums), [&](Reg i, const std::vector<Reg>& inside) {
      Reads here{emit_.add_scaled(at.rows, places_.rows_step(roles_.depth[k]), i), emit_.add_scaled(at.lanes, packed_step(k), i)};
      here.scale = emit_.add_scaled(at.scale, places_.scale_step(roles_.depth[k]), i);
      if (at.fetch != kNone) here.fetch = emit_.add_scaled(at.fetch, fetch_step(packed_step(k)), i);
      return contract(k + 1, rows, here, inside, slice);
    });
  }

  void finish_in_registers(const Task& task, int rows, const std::vector<Reg>& sums) {
    for (int r = 0; r < rows * line_; ++r) {
      const Task line = r < line_ ? task : at_row(task, emit_.integer(r / line_));
      const Task here = r % line_ == 0 ? line : within_line(line, emit_.integer(r % line_));
      for (int v = 0; v < shape_.vectors; ++v) finish(here, v, {&sums[static_cast<size_t>(r) * shape_.vectors + v], 1});
    }
  }

  /// Row by row: an epilogue that needs many registers does not hold the tile too. `step`: from one panel of a bundle to the next.
  void finish_stored(const Task& task, Reg place, int64_t step, Reg rows) {
    const auto each = [&](const Task& here, Reg line) {
      for (int v = 0; v < registers_of_bundle(); ++v) {
        std::vector<Reg> sums;
        for (int c = 0; c < columns_; ++c) {
          const int number = v * columns_ + c;
          const int64_t at = number / shape_.vectors * step + int64_t{number % shape_.vectors} * emit_.lanes();
          sums.push_back(build().load(scratch_, build().add(line, emit_.integer(at)), emit_.lanes()));
        }
        finish(here, v, sums);
      }
    };
    build().loop(emit_.integer(0), rows, emit_.integer(1), [&](Reg r) {
      const Task here = at_row(task, r);
      const Reg first = build().add(place, build().mul(r, emit_.integer(line_ * panel())));
      if (line_ == 1) return each(here, first);
      build().loop(emit_.integer(0), emit_.integer(line_), emit_.integer(1),
                   [&](Reg i) { each(within_line(here, i), build().add(first, build().mul(i, emit_.integer(panel())))); });
    });
  }

  void finish(const Task& task, int v, std::span<const Reg> sums) {
    if (auto r = places_.finish(task, v, sums); !r && status_) status_ = std::move(r);
  }

  Kernel& kernel_;
  KernelEmitter emit_;
  const Contraction& roles_;
  const Tactic& tactic_;
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
  const int64_t fetched_line_;  ///< elements of weights that are asked for at once; 0: they were just written
  Result<void> status_;
};

}  // namespace

Result<Kernel> lower_tiles(const Group& group, const Tiling& tiling, ArrayId packed, const Tactic& tactic, const Plan& plan,
                           const Target& target) {
  Kernel kernel;
  ContractLowering lowering(kernel, plan, target, tactic, group, tiling, packed);
  TRY(lowering.run());
  const Nest& nest = group.nests[0];
  Dim points = 1;
  for (const ops::Axis& a : nest.axes) points = points * a.extent;
  ProductWork work = product_work(tiling.roles, tactic.tile, target);
  work.tile.rows = lowering.highest();
  work.left_out = lowering.left_out();
  kernel.flops = (points - work.left_out * work.lanes) * Dim(2);
  kernel.nodes = nest.nodes;
  kernel.tactic = text_of(tactic, GroupKind::contract);
  kernel.work.walks = contract_walks(group, tiling, lowering.tasks().extents(), kernel.arguments, plan);
  if (tiling.with_epilogue) kernel.work.loops = {epilogue_work(*group.epilogue, work.lanes, plan)};
  kernel.work.products = {std::move(work)};
  if (tiling.with_epilogue) kernel.nodes.insert(kernel.nodes.end(), group.epilogue->map.nodes.begin(), group.epilogue->map.nodes.end());
  return kernel;
}

}  // namespace tenon::codegen
