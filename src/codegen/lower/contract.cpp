// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "codegen/loops/contraction.h"
#include "codegen/loops/inline.h"
#include "codegen/loops/operands.h"
#include "codegen/loops/places.h"
#include "codegen/lower/contract_tiling.h"
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

namespace {

/// An array read or written on the finished tile, its place affine in the contraction's axes.
struct TilePlace {
  int32_t buffer = -1;
  Affine place;
};

class ContractLowering {
 public:
  ContractLowering(Kernel& kernel, Plan& plan, const Target& target, const Tactic& tactic, const Nest& nest, const Contraction& roles,
                   ArrayId packed)
      : kernel_(kernel), emit_(kernel, plan, target, "contract"), nest_(nest), roles_(roles), tactic_(tactic), shape_(tactic.tile) {
    rows_buffer_ = emit_.buffer(nest.accesses[roles.rows_operand.accesses[0]].array, false);
    lanes_buffer_ = emit_.buffer(packed, false);
  }

  /// rows operand, then what the epilogue reads, then the result.
  void set_places(Affine rows, const Epilogue* epilogue, std::vector<Affine> reads, Affine result) {
    rows_place_ = std::move(rows);
    epilogue_ = epilogue;
    for (size_t k = 0; k < reads.size(); ++k)
      reads_.push_back(
          {static_cast<int>(k) == epilogue->accumulator ? -1 : emit_.buffer(epilogue->map.accesses[k].array, false), std::move(reads[k])});
    const ArrayId out = epilogue ? epilogue->map.outputs[0].array : nest_.outputs[0].array;
    result_ = {emit_.buffer(out, true), std::move(result)};
    const BodyCost cost = epilogue ? cost_of(epilogue->map) : BodyCost{};
    heavy_ = cost.transcendental > 0 || cost.arithmetic > 6;
    if (heavy_) scratch_ = build().scratch(DType::f32, int64_t{shape_.rows} * panel());
  }

  int64_t panel() const { return int64_t{shape_.vectors} * emit_.lanes(); }

  Dim rows_extent() const { return roles_.rows.empty() ? Dim(1) : roles_.rows.back().extent; }

  /// Of the tasks: batch, panels, rows in chunks of the innermost axis.
  std::vector<Dim> task_extents() const {
    std::vector<Dim> extents;
    for (const JointAxis& a : roles_.batch) extents.push_back(a.extent);
    extents.push_back(ceil_div(lanes_extent(), Dim(panel())));
    for (size_t k = 0; k + 1 < roles_.rows.size(); ++k) extents.push_back(roles_.rows[k].extent);
    extents.push_back(ceil_div(rows_extent(), Dim(chunk())));
    return extents;
  }

  Result<void> run() {
    const std::vector<Dim> extents = task_extents();
    kernel_.tasks = product(extents);
    const Dim rows = rows_extent();
    Dim depth = 1;
    for (const JointAxis& a : roles_.depth) depth = depth * a.extent;
    const Dim task_flops = min(rows, Dim(chunk())) * depth * Dim(2 * panel());
    kernel_.grain = max(Dim(1), floor_div(Dim(tactic_.grain), max(Dim(1), task_flops)));
    Result<void> status;
    build().loop(build().task_begin(), build().task_end(), emit_.integer(1), [&](Reg t) {
      if (auto r = task(t, extents); !r) status = std::move(r);
    });
    TRY(std::move(status));
    emit_.finish();
    return {};
  }

 private:
  TileBuilder& build() { return emit_.build(); }
  int64_t chunk() const { return tactic_.split * shape_.rows; }
  Dim lanes_extent() const {
    Dim n = 1;
    for (const JointAxis& a : roles_.lanes) n = n * a.extent;
    return n;
  }
  static Dim step(const Affine& place, const JointAxis& axis) { return place.coefficients[axis.axes.back()]; }

  Reg start(const Affine& place) { return place.offset == Dim(0) ? kNone : emit_.dim(place.offset); }
  Reg known(Reg sum) { return sum == kNone ? emit_.integer(0) : sum; }

  /// Everything that moves with a task, as offsets at row 0 and the first lane of the panel.
  struct Task {
    Reg rows = kNone, lanes = kNone, result = kNone;
    std::vector<Reg> reads;
    std::vector<Reg> masks;  ///< one a register of the panel; kNone: all lanes
  };

  void advance(Task& task, const JointAxis& axis, Reg at) {
    task.rows = emit_.add_scaled(task.rows, step(rows_place_, axis), at);
    task.result = emit_.add_scaled(task.result, step(result_.place, axis), at);
    for (size_t k = 0; k < reads_.size(); ++k)
      if (reads_[k].buffer >= 0) task.reads[k] = emit_.add_scaled(task.reads[k], step(reads_[k].place, axis), at);
  }

  Result<void> task(Reg t, const std::vector<Dim>& extents) {
    std::vector<Reg> at(extents.size(), kNone);
    for (size_t k = extents.size(); k-- > 1;) {
      const Reg extent = emit_.dim(extents[k]);
      at[k] = build().expr(ExprOp::rem, {t, extent});
      t = build().expr(ExprOp::div, {t, extent});
    }
    at[0] = t;
    Task task;
    task.rows = start(rows_place_);
    task.result = start(result_.place);
    for (const TilePlace& r : reads_) task.reads.push_back(r.buffer >= 0 ? start(r.place) : kNone);
    size_t next = 0;
    Reg panel_number = kNone;  // batch numbers and panel as one row-major number
    for (const JointAxis& a : roles_.batch) {
      advance(task, a, at[next]);
      panel_number = panel_number == kNone ? at[next] : build().add(build().mul(panel_number, emit_.dim(a.extent)), at[next]);
      ++next;
    }
    const Reg block = at[next];
    const Dim panels = extents[next++];
    panel_number = panel_number == kNone ? block : build().add(build().mul(panel_number, emit_.dim(panels)), block);
    const Reg first_lane = build().mul(block, emit_.integer(panel()));
    advance_lanes(task, first_lane);
    Dim depth = Dim(panel());
    for (const JointAxis& a : roles_.depth) depth = depth * a.extent;
    task.lanes = build().mul(panel_number, emit_.dim(depth));
    for (size_t k = 0; k + 1 < roles_.rows.size(); ++k) advance(task, roles_.rows[k], at[next++]);
    const Reg from = build().mul(at[next], emit_.integer(chunk()));
    return rows(task, from);
  }

  /// Lanes beyond the first axis are cut into panels as one product; only a single joint axis has steps that can be added.
  void advance_lanes(Task& task, Reg first_lane) {
    advance(task, roles_.lanes.back(), first_lane);
    const Dim lanes = lanes_extent();
    task.masks.assign(shape_.vectors, kNone);
    if (mod(lanes, Dim(panel())) == Dim(0)) return;
    const Reg left = build().sub(emit_.dim(lanes), first_lane);
    for (int v = 0; v < shape_.vectors; ++v)
      task.masks[v] = build().first_mask(build().sub(left, emit_.integer(int64_t{v} * emit_.lanes())), emit_.lanes());
  }

  Result<void> rows(const Task& task, Reg from) {
    const Dim extent = roles_.rows.empty() ? Dim(1) : roles_.rows.back().extent;
    if (extent.is_number() && extent.value() <= shape_.rows) return tile(task, emit_.integer(0), static_cast<int>(extent.value()));
    const Reg to = build().min(emit_.dim(extent), build().add(from, emit_.integer(chunk())));
    const Reg rest = build().expr(ExprOp::rem, {build().sub(to, from), emit_.integer(shape_.rows)});
    const Reg whole_end = build().sub(to, rest);
    Result<void> status;
    auto emit_tile = [&](Reg row, int count) {
      if (auto r = tile(task, row, count); !r) status = std::move(r);
    };
    build().loop(from, whole_end, emit_.integer(shape_.rows), [&](Reg row) { emit_tile(row, shape_.rows); });
    if (extent.is_number()) {
      const int last = static_cast<int>(extent.value() % shape_.rows);
      if (last != 0)
        build().branch(
            build().expr(ExprOp::less, {whole_end, to}),
            [&] {
              emit_tile(whole_end, last);
              return std::vector<Reg>{};
            },
            [] { return std::vector<Reg>{}; });
      return status;
    }
    Reg row = whole_end;
    for (int count = std::bit_floor(static_cast<unsigned>(shape_.rows - 1)); count > 0; count /= 2) {
      const Reg next = build().add(row, emit_.integer(count));
      row = build().branch(
          build().expr(ExprOp::less_equal, {next, to}),
          [&] {
            emit_tile(row, count);
            return std::vector<Reg>{next};
          },
          [&] { return std::vector<Reg>{row}; })[0];
    }
    return status;
  }

  Result<void> tile(const Task& at, Reg row, int rows) {
    Task task = at;
    if (!roles_.rows.empty()) advance(task, roles_.rows.back(), row);
    std::vector<Reg> sums(static_cast<size_t>(rows) * shape_.vectors, kNone);
    sums = contract(0, rows, known(task.rows), task.lanes, std::move(sums));
    return heavy_ ? finish_through_scratch(task, rows, sums) : finish_in_registers(task, rows, sums);
  }

  /// The outer depth axes are loops that carry the accumulators; the innermost is the contraction's own.
  std::vector<Reg> contract(size_t k, int rows, Reg a, Reg b, std::vector<Reg> sums) {
    if (k + 1 == roles_.depth.size()) {
      const JointAxis& inner = roles_.depth[k];
      const Dim a_step = step(rows_place_, inner);
      Contract c;
      c.rows = rows;
      c.vectors = shape_.vectors;
      c.lanes = emit_.lanes();
      c.a = rows_buffer_;
      c.b = lanes_buffer_;
      c.a_offset = a;
      c.a_row = emit_.dim(roles_.rows.empty() ? Dim(0) : step(rows_place_, roles_.rows.back()));
      c.a_k = a_step == Dim(1) ? kNone : emit_.dim(a_step);
      c.b_offset = b;
      c.b_k = emit_.integer(panel());
      c.depth = emit_.dim(inner.extent);
      c.prefetch_b_bytes = static_cast<int>(tactic_.prefetch);
      c.accumulators_in = std::move(sums);
      return build().contract(std::move(c));
    }
    if (sums[0] == kNone) {
      ExprNode zero;
      const Reg nothing = build().splat(emit_.constant({DType::f32, 1}, zero), emit_.lanes());
      std::fill(sums.begin(), sums.end(), nothing);
    }
    Dim b_step = Dim(panel());
    for (size_t inner = k + 1; inner < roles_.depth.size(); ++inner) b_step = b_step * roles_.depth[inner].extent;
    return build().loop(emit_.integer(0), emit_.dim(roles_.depth[k].extent), emit_.integer(1), std::move(sums),
                        [&](Reg i, const std::vector<Reg>& inside) {
                          const Reg a_here = emit_.add_scaled(a, step(rows_place_, roles_.depth[k]), i);
                          return contract(k + 1, rows, a_here, emit_.add_scaled(b, b_step, i), inside);
                        });
  }

  Result<void> finish_in_registers(const Task& task, int rows, const std::vector<Reg>& sums) {
    for (int r = 0; r < rows; ++r) {
      Task here = task;
      if (r > 0) advance(here, roles_.rows.back(), emit_.integer(r));
      for (int v = 0; v < shape_.vectors; ++v) TRY(finish(here, v, sums[static_cast<size_t>(r) * shape_.vectors + v]));
    }
    return {};
  }

  /// An epilogue that needs many registers runs row by row on the stored tile.
  Result<void> finish_through_scratch(const Task& task, int rows, const std::vector<Reg>& sums) {
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < shape_.vectors; ++v)
        build().store(scratch_, emit_.integer(r * panel() + int64_t{v} * emit_.lanes()), sums[static_cast<size_t>(r) * shape_.vectors + v]);
    Result<void> status;
    build().loop(emit_.integer(0), emit_.integer(rows), emit_.integer(1), [&](Reg r) {
      Task here = task;
      if (!roles_.rows.empty()) advance(here, roles_.rows.back(), r);
      const Reg line = build().mul(r, emit_.integer(panel()));
      for (int v = 0; v < shape_.vectors && status; ++v) {
        const Reg sum = build().load(scratch_, build().add(line, emit_.integer(int64_t{v} * emit_.lanes())), emit_.lanes());
        if (auto f = finish(here, v, sum); !f) status = std::move(f);
      }
    });
    return status;
  }

  Result<void> finish(const Task& task, int v, Reg sum) {
    const Reg mask = task.masks[v];
    const JointAxis& lane_axis = roles_.lanes.back();
    auto place_of = [&](const Affine& place, Reg base) {
      return known(emit_.add_scaled(base, step(place, lane_axis) * Dim(int64_t{v} * emit_.lanes()), emit_.integer(1)));
    };
    auto memory_of = [&](const Affine& place) {
      Memory how;
      how.mask = mask;
      const Dim along = step(place, lane_axis);
      if (!(along == Dim(1))) how.stride = emit_.dim(along);
      return how;
    };
    if (epilogue_) {
      KernelEmitter::Place place;
      place.load = [&](int k) -> Result<Reg> {
        if (k == epilogue_->accumulator) return sum;
        const TilePlace& r = reads_[k];
        if (step(r.place, lane_axis) == Dim(0)) return build().load(r.buffer, known(task.reads[k]), 1);
        return build().load(r.buffer, place_of(r.place, task.reads[k]), emit_.lanes(), memory_of(r.place));
      };
      sum = TRY(emit_.evaluate(epilogue_->map.outputs[0].value, place));
    }
    sum = build().splat(sum, emit_.lanes());
    const DType stored = epilogue_ ? epilogue_->map.outputs[0].dtype : nest_.outputs[0].dtype;
    if (build().type(sum).element != stored) sum = build().expr(ExprOp::cast, {sum}, stored);
    build().store(result_.buffer, place_of(result_.place, task.result), sum, memory_of(result_.place));
    return {};
  }

  Kernel& kernel_;
  KernelEmitter emit_;
  const Nest& nest_;
  const Contraction& roles_;
  const Tactic& tactic_;
  const Tile shape_;
  int32_t rows_buffer_ = -1, lanes_buffer_ = -1, scratch_ = -1;
  Affine rows_place_;
  const Epilogue* epilogue_ = nullptr;
  std::vector<TilePlace> reads_;
  TilePlace result_;
  bool heavy_ = false;
};

/// Loops without tiles: they run every sum.
Result<std::vector<Kernel>> lower_plainly(const Group& group, Plan& plan, const Target& target) {
  std::vector<Kernel> kernels;
  for (const Group& g : plain_groups(group))
    for (Kernel& k : TRY(lower_loops(g, default_loop_tactic(), plan, target))) kernels.push_back(std::move(k));
  return kernels;
}

/// The same with the rows operand stored where it is computed, and padded where it may leave its array. nullopt: it cannot be.
std::optional<Group> with_plain_rows(const Group& group, Plan& plan, std::vector<Nest>& before) {
  if (!group.contraction) return std::nullopt;
  Group out = group;
  if (!group.contraction->rows_operand.is_load()) {
    store_rows_operand(out.nests[0], *group.contraction, plan, before);
    if (!settle_contraction(out, plan) || !out.contraction->rows_operand.is_load()) return std::nullopt;
  }
  const int access = out.contraction->rows_operand.accesses[0];
  NestAccess& rows = out.nests[0].accesses[access];
  if (!rows.within) return out;
  const Nest whole = out.nests[0];
  if (!pad_operand(rows, whole, plan, before)) return std::nullopt;
  const auto roles = contraction_of(out.nests[0], plan);
  if (roles && roles->rows_operand.accesses[0] == access) out.contraction = roles;
  return out;
}

}  // namespace

Result<std::vector<Kernel>> lower_contract(const Group& given, const Tactic& tactic, Plan& plan, const Target& target) {
  std::vector<Nest> before;
  const auto group = with_plain_rows(given, plan, before);
  const auto tiling = group ? tiling_of(*group, plan) : std::nullopt;
  if (!tiling) return lower_plainly(given, plan, target);
  std::vector<Kernel> kernels;
  Kernel kernel;
  const Nest& nest = group->nests[0];
  const Epilogue* epilogue = tiling->with_epilogue ? &*group->epilogue : nullptr;
  // Panels must have the width that the lowering uses: registers x lanes.
  const int64_t panel = int64_t{tactic.tile.vectors} * target.lanes();
  const ArrayId packed = TRY(pack_operand(nest, tiling->roles, panel, plan, before));
  for (Nest& n : before) kernels.push_back(TRY(lower_nest(std::move(n), plan, target)));
  ContractLowering lowering(kernel, plan, target, tactic, nest, tiling->roles, packed);
  lowering.set_places(tiling->rows, epilogue, tiling->reads, tiling->result);
  TRY(lowering.run());
  Dim points = 1;
  for (const ops::Axis& a : nest.axes) points = points * a.extent;
  kernel.flops = points * Dim(2);
  kernel.nodes = nest.nodes;
  kernel.tactic = text_of(tactic, GroupKind::contract);
  if (epilogue) kernel.nodes.insert(kernel.nodes.end(), epilogue->map.nodes.begin(), epilogue->map.nodes.end());
  kernels.push_back(std::move(kernel));
  if (group->epilogue && !epilogue) kernels.push_back(TRY(lower_nest(group->epilogue->map, plan, target)));
  return kernels;
}

}  // namespace tenon::codegen
