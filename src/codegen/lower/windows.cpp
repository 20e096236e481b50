// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/windows.h"

#include <algorithm>
#include <iterator>

#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"
#include "codegen/analysis/window_sum.h"
#include "codegen/lower/kernel_emitter.h"
#include "codegen/lower/operands.h"

namespace tenon::codegen {

namespace {

/// Channels of a task: their part of the image's rows is what the first-level cache holds.
constexpr int64_t kRegistersOfChannels = 8;
/// Neighbouring sums at most: as many as hide the latency of a multiply-add on two units.
constexpr int kMostColumns = 8;

/// An array that the kernel reads or writes, its place affine in the nest's axes.
struct Place {
  int32_t buffer = -1;
  Affine at;
};

class WindowLowering {
 public:
  WindowLowering(Kernel& kernel, const Plan& plan, const Target& target, const Nest& nest, const WindowSum& sum)
      : kernel_(kernel), emit_(kernel, plan, target, "window"), nest_(nest), sum_(sum) {
    data_ = place(nest.accesses[sum.data], false);
    weights_ = place(nest.accesses[sum.weights], false);
    kernel_columns_ = static_cast<int>(nest.axes[sum.columns.kernel].extent.value());
    const int most = std::clamp(target.registers - kernel_columns_ - 2, 2, kMostColumns);
    const auto columns = extent(sum.columns.output).number();
    tile_ = static_cast<int>(columns && *columns > 0 ? ceil_div(*columns, ceil_div(*columns, int64_t{most})) : most);
    // What the rows of a window hold of one register's channels is passed again for the next one's, which share its cache lines.
    constexpr int64_t kLine = 64;
    const Dim passed = extent(sum.columns.output) * sum.columns.step * kLine * (sum.rows ? extent(sum.rows->kernel) : Dim(1));
    tiles_first_ = !passed.less(target.caches[0] / 2).value_or(false);
    for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
      if (nest.axes[x].kind == ops::Axis::Kind::parallel && x != sum.channels && x != sum.columns.output) outer_.push_back(x);
  }

  /// places: without an epilogue, of no use.
  void set_epilogue(const Epilogue* epilogue, EpiloguePlaces places) {
    epilogue_ = epilogue;
    if (!epilogue) {
      result_ = place(nest_.outputs[0], true);
      stored_ = nest_.outputs[0].dtype;
      return;
    }
    result_ = {emit_.buffer(epilogue->map.outputs[0].array, true), std::move(places.results[0])};
    stored_ = epilogue->map.outputs[0].dtype;
    for (size_t k = 0; k < places.reads.size(); ++k) {
      const bool is_sum = static_cast<int>(k) == epilogue->accumulator;
      reads_.push_back({is_sum ? -1 : emit_.buffer(epilogue->map.accesses[k].array, false), std::move(places.reads[k].place)});
    }
  }

  /// Whether its tasks run over those axes first; of an axis with one step there is nothing to say.
  bool runs_by(const std::vector<int>& axes) const {
    std::vector<int> longer;
    std::ranges::copy_if(outer_, std::back_inserter(longer), [&](int x) { return !(extent(x) == Dim(1)); });
    return axes.size() <= longer.size() && std::equal(axes.begin(), axes.end(), longer.begin());
  }

  Result<void> run(int64_t grain) {
    std::vector<Dim> extents;
    for (const int x : outer_) extents.push_back(extent(x));
    extents.push_back(ceil_div(extent(sum_.channels), Dim(block())));
    kernel_.tasks = product(extents);
    const Dim points = extent(sum_.columns.output) * Dim(block() * kernel_columns_) * (sum_.rows ? extent(sum_.rows->kernel) : Dim(1));
    kernel_.grain = max(Dim(1), floor_div(Dim(grain), max(Dim(1), points)));
    build().loop(build().task_begin(), build().task_end(), emit_.integer(1), [&](Reg t) { task(t, extents); });
    TRY(std::move(status_));
    emit_.finish();
    return {};
  }

  /// Of a product: a tile of neighbouring sums loads what their windows hold of a row, and the weights, once.
  double loads_of_product() const {
    return static_cast<double>(span(tile_) + kernel_columns_) / static_cast<double>(int64_t{tile_} * kernel_columns_);
  }

  /// Tasks, and what the kernel reads and writes.
  std::vector<Walk> walks() const {
    std::vector<int> axes = outer_;
    axes.push_back(sum_.channels);
    Walks out(emit_.plan(), tasks_over(axes, nest_));
    Dim points = 1;
    for (const ops::Axis& a : nest_.axes) points = points * a.extent;
    const auto add = [&](const Place& p, bool written) {
      if (p.buffer >= 0) out.add(kernel_.arguments[static_cast<size_t>(p.buffer)], p.at, nest_, points, written);
    };
    add(data_, false);
    add(weights_, false);
    for (const Place& p : reads_) add(p, false);
    add(result_, true);
    return out.of(kernel_.arguments);
  }

 private:
  TileBuilder& build() { return emit_.build(); }
  int64_t block() const { return kRegistersOfChannels * emit_.lanes(); }
  Dim extent(int axis) const { return nest_.axes[axis].extent; }

  template <class Where>
  Place place(const Where& where, bool written) {
    return {emit_.buffer(where.array, written), *affine_of(flat_of(where, emit_.plan()), static_cast<int>(nest_.axes.size()))};
  }

  /// Element offsets, at the first column and the first lane; of the data at the first row and column of the window too.
  struct State {
    Reg data = kNone, weights = kNone, result = kNone;
    std::vector<Reg> reads;
    Reg row = kNone;   ///< of the sums
    Reg mask = kNone;  ///< of the channels; kNone: all lanes
  };

  /// With an axis moved on by `at`.
  void advance(State& s, int axis, Reg at) {
    s.data = emit_.add_scaled(s.data, data_.at.coefficients[axis], at);
    s.weights = emit_.add_scaled(s.weights, weights_.at.coefficients[axis], at);
    s.result = emit_.add_scaled(s.result, result_.at.coefficients[axis], at);
    for (size_t k = 0; k < reads_.size(); ++k)
      if (reads_[k].buffer >= 0) s.reads[k] = emit_.add_scaled(s.reads[k], reads_[k].at.coefficients[axis], at);
  }

  void task(Reg t, const std::vector<Dim>& extents) {
    State s;
    s.data = emit_.dim(data_.at.offset);
    s.weights = emit_.dim(weights_.at.offset);
    s.result = emit_.dim(result_.at.offset);
    for (const Place& p : reads_) s.reads.push_back(p.buffer >= 0 ? emit_.dim(p.at.offset) : kNone);
    std::vector<Reg> at(extents.size(), kNone);
    for (size_t k = extents.size(); k-- > 1;) {
      const Reg size = emit_.dim(extents[k]);
      at[k] = build().expr(ExprOp::rem, {t, size});
      t = build().expr(ExprOp::div, {t, size});
    }
    at[0] = t;
    for (size_t k = 0; k < outer_.size(); ++k) {
      advance(s, outer_[k], at[k]);
      if (sum_.rows && outer_[k] == sum_.rows->output) s.row = at[k];
    }
    if (sum_.rows && s.row == kNone) s.row = emit_.integer(0);
    find_rows(s);
    first_channel_ = build().mul(at.back(), emit_.integer(block()));
    if (tiles_first_) columns(s);
    else strips(s, [&](const State& strip) { columns(strip); });
  }

  /// ceil(a / b), for what a maximum with 0 follows.
  Reg steps_to(Reg a, int64_t b) {
    return b == 1 ? a : build().expr(ExprOp::div, {build().add(a, emit_.integer(b - 1)), emit_.integer(b)});
  }

  /// The kernel's rows that lie in the data.
  void find_rows(const State& s) {
    if (!sum_.rows) return;
    const Slide& rows = *sum_.rows;
    rows_from_ = emit_.integer(0);
    rows_to_ = emit_.dim(extent(rows.kernel));
    if (rows.inside.always) return;
    const Reg first = build().add(build().mul(s.row, emit_.integer(rows.step)), emit_.dim(rows.offset));
    const auto from = [&](Dim bound) { return steps_to(build().sub(emit_.dim(bound), first), rows.dilation); };
    rows_from_ = build().expr(ExprOp::max, {rows_from_, from(rows.inside.from)});
    rows_to_ = build().min(rows_to_, from(rows.inside.to));
  }

  /// Calls body(state) for each register of the block's channels.
  template <class Body>
  void strips(const State& s, Body body) {
    const int lanes = emit_.lanes();
    const Reg from = first_channel_;
    const Dim channels = extent(sum_.channels);
    const Reg to = build().min(emit_.dim(channels), build().add(from, emit_.integer(block())));
    const Reg rest = build().expr(ExprOp::rem, {build().sub(to, from), emit_.integer(lanes)});
    const Reg whole = build().sub(to, rest);
    build().loop(from, whole, emit_.integer(lanes), [&](Reg c) {
      State strip = s;
      advance(strip, sum_.channels, c);
      body(strip);
    });
    if (mod(channels, Dim(lanes)) == Dim(0)) return;
    build().branch(
        build().expr(ExprOp::less, {whole, to}),
        [&] {
          State strip = s;
          advance(strip, sum_.channels, whole);
          strip.mask = build().first_mask(rest, lanes);
          body(strip);
          return std::vector<Reg>{};
        },
        [] { return std::vector<Reg>{}; });
  }

  // --- columns

  /// Of the data: where the windows of `count` sums from column `first` on begin and end.
  Dim column(Dim first) const { return first * sum_.columns.step + sum_.columns.offset; }
  int64_t span(int count) const { return (count - 1) * sum_.columns.step + (kernel_columns_ - 1) * sum_.columns.dilation + 1; }

  /// Whether they lie in the data; nullopt where that is not known here.
  std::optional<bool> lies_inside(Dim first, int64_t from, int64_t to) const {
    const Inside& inside = sum_.columns.inside;
    if (inside.always) return true;
    const auto begins = inside.from.less(column(first) + from + 1), ends = (column(first) + (to - 1)).less(inside.to);
    if (begins == std::optional(false) || ends == std::optional(false)) return false;
    return begins && ends ? std::optional(true) : std::nullopt;
  }

  void columns(const State& s) {
    const auto number = extent(sum_.columns.output).number();
    if (!number) return unknown_columns(s);
    const int64_t tiles = *number / tile_;
    const auto tile_inside = [&](int64_t k) { return lies_inside(k * tile_, 0, span(tile_)) == std::optional(true); };
    int64_t first = 0, last = tiles;  // tiles that are inside
    while (first < last && !tile_inside(first)) ++first;
    while (last > first && !tile_inside(last - 1)) --last;
    // What hangs over an edge stands there once a tile; an image without an inside in one loop.
    if (first > 2 || tiles - last > 2) return unknown_columns(s);
    for (int64_t k = 0; k < first; ++k) fixed_tile(s, k * tile_, tile_);
    if (first < last)
      build().loop(emit_.integer(first * tile_), emit_.integer(last * tile_), emit_.integer(tile_),
                   [&](Reg at) { tile(s, at, tile_, [](int64_t) { return std::optional(kNone); }); });
    for (int64_t k = last; k < tiles; ++k) fixed_tile(s, k * tile_, tile_);
    if (*number % tile_ != 0) fixed_tile(s, tiles * tile_, static_cast<int>(*number % tile_));
  }

  void fixed_tile(const State& s, int64_t at, int count) {
    const auto bounds = [&](int64_t q) -> std::optional<Reg> {
      const auto inside = lies_inside(at, q, q + 1);
      if (inside == std::optional(false)) return std::nullopt;
      return inside ? kNone : within(emit_.integer(at), q);
    };
    tile(s, emit_.integer(at), count, bounds);
  }

  /// Whole tiles, then one column after the other.
  void unknown_columns(const State& s) {
    const Reg to = emit_.dim(extent(sum_.columns.output));
    const Reg whole = build().sub(to, build().expr(ExprOp::rem, {to, emit_.integer(tile_)}));
    build().loop(emit_.integer(0), whole, emit_.integer(tile_), [&](Reg at) { checked_tile(s, at, tile_); });
    build().loop(whole, to, emit_.integer(1), [&](Reg at) { checked_tile(s, at, 1); });
  }

  void checked_tile(const State& s, Reg at, int count) {
    const auto all = [](int64_t) { return std::optional(kNone); };
    if (sum_.columns.inside.always) return tile(s, at, count, all);
    const auto nothing = std::vector<Reg>{};
    const Reg inside = build().expr(ExprOp::logical_and, {from_first(at, 0), to_last(at, span(count) - 1)});
    build().branch(
        inside,
        [&] {
          tile(s, at, count, all);
          return nothing;
        },
        [&] {
          tile(s, at, count, [&](int64_t q) { return std::optional(within(at, q)); });
          return nothing;
        });
  }

  /// The data's column that is `q` behind the first of the windows at `at`.
  Reg column(Reg at, int64_t q) {
    return build().add(build().mul(at, emit_.integer(sum_.columns.step)), emit_.dim(sum_.columns.offset + q));
  }
  Reg from_first(Reg at, int64_t q) { return build().expr(ExprOp::less_equal, {emit_.dim(sum_.columns.inside.from), column(at, q)}); }
  Reg to_last(Reg at, int64_t q) { return build().expr(ExprOp::less, {column(at, q), emit_.dim(sum_.columns.inside.to)}); }
  Reg within(Reg at, int64_t q) { return build().expr(ExprOp::logical_and, {from_first(at, q), to_last(at, q)}); }

  // --- a tile

  /// bounds(q): whether column q of the windows is read: kNone always, a condition, or nullopt never.
  template <class Bounds>
  void tile(const State& s, Reg at, int count, Bounds bounds) {
    State here = s;
    advance(here, sum_.columns.output, at);
    std::vector<std::optional<Reg>> conditions;
    for (int64_t q = 0; q < span(count); ++q) conditions.push_back(needed(q, count) ? bounds(q) : std::nullopt);
    if (tiles_first_) strips(here, [&](const State& strip) { sums_of(strip, count, conditions); });
    else sums_of(here, count, conditions);
  }

  void sums_of(const State& here, int count, const std::vector<std::optional<Reg>>& conditions) {
    std::vector<std::optional<Reg>> masks = conditions;
    for (auto& m : masks)
      if (m) m = *m == kNone ? here.mask : mask_of(*m, here.mask);
    ExprNode zero;
    std::vector<Reg> sums(static_cast<size_t>(count), build().splat(emit_.constant({DType::f32, 1}, zero), emit_.lanes()));
    if (sum_.rows) {
      sums = build().loop(rows_from_, rows_to_, emit_.integer(1), std::move(sums), [&](Reg row, const std::vector<Reg>& before) {
        State line = here;
        advance(line, sum_.rows->kernel, row);
        return add_line(line, masks, before);
      });
    } else {
      sums = add_line(here, masks, std::move(sums));
    }
    for (int t = 0; t < count && status_; ++t) status_ = finish(here, t, sums[static_cast<size_t>(t)]);
  }

  Reg mask_of(Reg condition, Reg channels) {
    const Reg lanes = build().splat(condition, emit_.lanes());
    return channels == kNone ? lanes : build().expr(ExprOp::logical_and, {lanes, channels});
  }

  /// The kernel's column that sum t multiplies with column q; nullopt where it is none.
  std::optional<int> kernel_column(int64_t q, int t) const {
    const int64_t behind = q - t * sum_.columns.step;
    if (behind < 0 || behind % sum_.columns.dilation != 0 || behind / sum_.columns.dilation >= kernel_columns_) return std::nullopt;
    return static_cast<int>(behind / sum_.columns.dilation);
  }
  bool needed(int64_t q, int count) const {
    for (int t = 0; t < count; ++t)
      if (kernel_column(q, t)) return true;
    return false;
  }

  /// One row of the kernel: each column of the data is loaded once, for all sums whose windows hold it.
  std::vector<Reg> add_line(const State& s, const std::vector<std::optional<Reg>>& masks, std::vector<Reg> sums) {
    const Dim data_step = data_.at.coefficients[sum_.columns.kernel], weight_step = weights_.at.coefficients[sum_.columns.kernel];
    Memory channels;
    channels.mask = s.mask;
    std::vector<Reg> weights;
    for (int k = 0; k < kernel_columns_; ++k)
      weights.push_back(build().load(weights_.buffer, behind(s.weights, weight_step * k), emit_.lanes(), channels));
    // A step of the kernel is `dilation` columns; places are told by single ones.
    const Dim one = *exact_quotient(data_step, Dim(sum_.columns.dilation));
    for (int64_t q = 0; q < static_cast<int64_t>(masks.size()); ++q) {
      if (!masks[static_cast<size_t>(q)]) continue;
      Memory how;
      how.mask = *masks[static_cast<size_t>(q)];
      const Reg x = build().load(data_.buffer, behind(s.data, one * q), emit_.lanes(), how);
      for (int t = 0; t < static_cast<int>(sums.size()); ++t)
        if (const auto k = kernel_column(q, t))
          sums[static_cast<size_t>(t)] = build().fma(x, weights[static_cast<size_t>(*k)], sums[static_cast<size_t>(t)]);
    }
    return sums;
  }

  Reg behind(Reg offset, Dim elements) { return elements == Dim(0) ? offset : build().add(offset, emit_.dim(elements)); }

  Result<void> finish(const State& s, int t, Reg sum) {
    State here = s;
    if (t > 0) advance(here, sum_.columns.output, emit_.integer(t));
    const auto memory_of = [&](const Place& p) {
      Memory how;
      how.mask = s.mask;
      const Dim along = p.at.coefficients[sum_.channels];
      if (!(along == Dim(1))) how.stride = emit_.dim(along);
      return how;
    };
    if (epilogue_) {
      KernelEmitter::Place place;
      place.load = [&](int k) -> Result<Reg> {
        if (k == epilogue_->accumulator) return sum;
        const Place& p = reads_[static_cast<size_t>(k)];
        const Reg at = here.reads[static_cast<size_t>(k)];
        if (p.at.coefficients[sum_.channels] == Dim(0)) return build().load(p.buffer, at, 1);
        return build().load(p.buffer, at, emit_.lanes(), memory_of(p));
      };
      sum = TRY(emit_.evaluate(epilogue_->map.outputs[0].value, place));
    }
    sum = build().splat(sum, emit_.lanes());
    if (build().type(sum).element != stored_) sum = build().expr(ExprOp::cast, {sum}, stored_);
    build().store(result_.buffer, here.result, sum, memory_of(result_));
    return {};
  }

  Kernel& kernel_;
  KernelEmitter emit_;
  const Nest& nest_;
  const WindowSum& sum_;
  const Epilogue* epilogue_ = nullptr;
  Place data_, weights_, result_;
  std::vector<Place> reads_;
  DType stored_ = DType::f32;
  int kernel_columns_ = 0, tile_ = 1;
  std::vector<int> outer_;    ///< axes of the tasks, beside blocks of channels
  bool tiles_first_ = false;  ///< a task goes from tile to tile, over all its channels; else from channels to channels, over all tiles
  Reg rows_from_ = kNone, rows_to_ = kNone, first_channel_ = kNone;
  Result<void> status_;
};

}  // namespace

Result<std::optional<Kernel>> lower_windows(const Group& group, const Tactic& tactic, Plan& plan, const Target& target) {
  if (group.nests.size() != 1 || tactic.lanes >= 0) return std::nullopt;
  auto sum = window_sum_of(group.nests[0], plan);
  if (!sum) return std::nullopt;
  Nest nest = group.nests[0];
  transpose_constants(nest, sum->channels, plan);
  const auto weights = affine_of(flat_of(nest.accesses[sum->weights], plan), static_cast<int>(nest.axes.size()));
  if (!weights || !(weights->coefficients[sum->channels] == Dim(1))) return std::nullopt;
  const Epilogue* epilogue = group.epilogue ? &*group.epilogue : nullptr;
  auto places = epilogue ? epilogue_places(*epilogue, nest, plan) : EpiloguePlaces{};
  if (!places || std::ranges::any_of(places->reads, [](const EpilogueRead& r) { return bool(r.loaded); })) return std::nullopt;
  Kernel kernel;
  WindowLowering lowering(kernel, plan, target, nest, *sum);
  lowering.set_epilogue(epilogue, std::move(*places));
  TRY(lowering.run(tactic.grain));
  if (group.region && lowering.runs_by(group.region->axes)) kernel.units = group.region->units;
  Dim points = 2;
  for (const ops::Axis& a : nest.axes) points = points * a.extent;
  kernel.flops = points;
  kernel.nodes = nest.nodes;
  if (epilogue) kernel.nodes.insert(kernel.nodes.end(), epilogue->map.nodes.begin(), epilogue->map.nodes.end());
  kernel.tactic = text_of(tactic, GroupKind::nests);
  kernel.work.loops = {window_work(nest, sum->channels, lowering.loads_of_product())};
  if (epilogue) kernel.work.loops.push_back(epilogue_work(*epilogue, nest.axes[sum->channels].extent, plan));
  kernel.work.walks = lowering.walks();
  return kernel;
}

}  // namespace tenon::codegen
