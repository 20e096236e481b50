// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/window_lowering.h"

#include <algorithm>
#include <iterator>

#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

/// Most sums of a tile: as many as hide the latency of a multiply-add on two units.
constexpr int kMaxTile = 8;

}  // namespace

template <class Body>
void WindowLowering::each_channel_register(const State& s, Body body) {
  const int lanes = emit_.lanes();
  const Reg from = first_channel_;
  const Dim channels = extent(sum_.channels);
  const Reg to = build().min(emit_.dim(channels), build().add(from, emit_.integer(block())));
  const Reg rest = build().expr(ExprOp::rem, {build().sub(to, from), emit_.integer(lanes)});
  const Reg whole = build().sub(to, rest);
  build().loop(from, whole, emit_.integer(lanes), [&](Reg c) {
    State here = s;
    advance(here, sum_.channels, c);
    body(here);
  });
  if (mod(channels, Dim(lanes)) == Dim(0)) return;
  build().branch(
      build().expr(ExprOp::less, {whole, to}),
      [&] {
        State here = s;
        advance(here, sum_.channels, whole);
        here.mask = build().first_mask(rest, lanes);
        body(here);
        return std::vector<Reg>{};
      },
      [] { return std::vector<Reg>{}; });
}

template <class Bounds>
void WindowLowering::tile(const State& s, Reg at, int count, Bounds bounds) {
  State here = s;
  advance(here, sum_.columns.output, at);
  std::vector<std::optional<Reg>> conditions;
  for (int64_t q = 0; q < span(count); ++q) conditions.push_back(is_read(q, count) ? bounds(q) : std::nullopt);
  if (tiles_first_) each_channel_register(here, [&](const State& channels) { sum_windows(channels, count, conditions); });
  else sum_windows(here, count, conditions);
}

WindowLowering::WindowLowering(Kernel& kernel, const Plan& plan, const Target& target, const Nest& nest, const WindowSum& sum)
    : kernel_(kernel), emit_(kernel, plan, target, "window"), nest_(nest), sum_(sum) {
  data_ = place(nest.accesses[sum.data], false);
  weights_ = place(nest.accesses[sum.weights], false);
  kernel_columns_ = static_cast<int>(nest.axes[sum.columns.kernel].extent.value());
  const int most = std::clamp(target.registers - kernel_columns_ - 2, 2, kMaxTile);
  const auto columns = extent(sum.columns.output).number();
  tile_ = static_cast<int>(columns && *columns > 0 ? ceil_div(*columns, ceil_div(*columns, int64_t{most})) : most);
  // With channels in the outer loop, the rows of a window are read again for each register of channels, which share cache lines: that is
  // fast as long as these lines stay in the first-level cache.
  constexpr int64_t kLine = 64;
  const Dim bytes_of_rows = extent(sum.columns.output) * sum.columns.step * kLine * (sum.rows ? extent(sum.rows->kernel) : Dim(1));
  tiles_first_ = !bytes_of_rows.less(target.caches[0] / 2).value_or(false);
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
    if (nest.axes[x].kind == ops::Axis::Kind::parallel && x != sum.channels && x != sum.columns.output) task_axes_.push_back(x);
}

void WindowLowering::set_epilogue(const Epilogue* epilogue, EpiloguePlaces places) {
  epilogue_ = epilogue;
  if (!epilogue) {
    result_ = place(nest_.outputs[0], true);
    result_dtype_ = nest_.outputs[0].dtype;
    return;
  }
  result_ = {emit_.buffer(epilogue->map.outputs[0].array, true), std::move(places.results[0])};
  result_dtype_ = epilogue->map.outputs[0].dtype;
  for (size_t k = 0; k < places.reads.size(); ++k) {
    const bool is_sum = static_cast<int>(k) == epilogue->accumulator;
    reads_.push_back({is_sum ? -1 : emit_.buffer(epilogue->map.accesses[k].array, false), std::move(places.reads[k].place)});
  }
}

bool WindowLowering::has_leading_task_axes(const std::vector<int>& axes) const {
  std::vector<int> moving;  // task axes with more than one step
  std::ranges::copy_if(task_axes_, std::back_inserter(moving), [&](int x) { return !(extent(x) == Dim(1)); });
  return axes.size() <= moving.size() && std::equal(axes.begin(), axes.end(), moving.begin());
}

Result<void> WindowLowering::run(int64_t grain) {
  std::vector<Dim> extents;
  for (const int x : task_axes_) extents.push_back(extent(x));
  extents.push_back(ceil_div(extent(sum_.channels), Dim(block())));
  kernel_.tasks = product(extents);
  const Dim points = extent(sum_.columns.output) * Dim(block() * kernel_columns_) * (sum_.rows ? extent(sum_.rows->kernel) : Dim(1));
  kernel_.grain = max(Dim(1), floor_div(Dim(grain), max(Dim(1), points)));
  build().loop(build().task_begin(), build().task_end(), emit_.integer(1), [&](Reg t) { task(t, extents); });
  TRY(std::move(status_));
  emit_.finish();
  return {};
}

std::vector<AccessPattern> WindowLowering::access_patterns() const {
  std::vector<int> axes = task_axes_;
  axes.push_back(sum_.channels);
  AccessPatterns out(emit_.plan(), tasks_over(axes, nest_));
  Dim points = 1;
  for (const ops::Axis& a : nest_.axes) points = points * a.extent;
  const auto add = [&](const WindowOperand& p, bool written) {
    if (p.buffer >= 0) out.add(kernel_.arguments[static_cast<size_t>(p.buffer)], p.at, nest_, points, written);
  };
  add(data_, false);
  add(weights_, false);
  for (const WindowOperand& p : reads_) add(p, false);
  add(result_, true);
  return out.of(kernel_.arguments);
}

void WindowLowering::advance(State& s, int axis, Reg at) {
  s.data = emit_.add_scaled(s.data, data_.at.coefficients[axis], at);
  s.weights = emit_.add_scaled(s.weights, weights_.at.coefficients[axis], at);
  s.result = emit_.add_scaled(s.result, result_.at.coefficients[axis], at);
  for (size_t k = 0; k < reads_.size(); ++k)
    if (reads_[k].buffer >= 0) s.reads[k] = emit_.add_scaled(s.reads[k], reads_[k].at.coefficients[axis], at);
}

void WindowLowering::task(Reg t, const std::vector<Dim>& extents) {
  State s;
  s.data = emit_.dim(data_.at.offset);
  s.weights = emit_.dim(weights_.at.offset);
  s.result = emit_.dim(result_.at.offset);
  for (const WindowOperand& p : reads_) s.reads.push_back(p.buffer >= 0 ? emit_.dim(p.at.offset) : kNone);
  std::vector<Reg> at(extents.size(), kNone);
  for (size_t k = extents.size(); k-- > 1;) {
    const Reg size = emit_.dim(extents[k]);
    at[k] = build().expr(ExprOp::rem, {t, size});
    t = build().expr(ExprOp::div, {t, size});
  }
  at[0] = t;
  for (size_t k = 0; k < task_axes_.size(); ++k) {
    advance(s, task_axes_[k], at[k]);
    if (sum_.rows && task_axes_[k] == sum_.rows->output) s.row = at[k];
  }
  if (sum_.rows && s.row == kNone) s.row = emit_.integer(0);
  limit_kernel_rows(s);
  first_channel_ = build().mul(at.back(), emit_.integer(block()));
  if (tiles_first_) emit_columns(s);
  else each_channel_register(s, [&](const State& channels) { emit_columns(channels); });
}

void WindowLowering::limit_kernel_rows(const State& s) {
  if (!sum_.rows) return;
  const Slide& rows = *sum_.rows;
  kernel_row_begin_ = emit_.integer(0);
  kernel_row_end_ = emit_.dim(extent(rows.kernel));
  if (rows.inside.always) return;
  const Reg first = build().add(build().mul(s.row, emit_.integer(rows.step)), emit_.dim(rows.offset));
  const auto from = [&](Dim bound) { return steps_to(build().sub(emit_.dim(bound), first), rows.dilation); };
  kernel_row_begin_ = build().expr(ExprOp::max, {kernel_row_begin_, from(rows.inside.from)});
  kernel_row_end_ = build().min(kernel_row_end_, from(rows.inside.to));
}

std::optional<bool> WindowLowering::lies_inside(Dim first, int64_t from, int64_t to) const {
  const IndexBounds& inside = sum_.columns.inside;
  if (inside.always) return true;
  const auto begins = inside.from.less(column(first) + from + 1), ends = (column(first) + (to - 1)).less(inside.to);
  if (begins == std::optional(false) || ends == std::optional(false)) return false;
  return begins && ends ? std::optional(true) : std::nullopt;
}

void WindowLowering::emit_columns(const State& s) {
  const auto number = extent(sum_.columns.output).number();
  if (!number) return columns_in_a_loop(s);
  const int64_t tiles = *number / tile_;
  const auto tile_inside = [&](int64_t k) { return lies_inside(k * tile_, 0, span(tile_)) == std::optional(true); };
  int64_t first = 0, last = tiles;  // tiles that are inside
  while (first < last && !tile_inside(first)) ++first;
  while (last > first && !tile_inside(last - 1)) --last;
  // Each tile that crosses an edge is emitted on its own; where there are many of those, all tiles are one loop.
  if (first > 2 || tiles - last > 2) return columns_in_a_loop(s);
  for (int64_t k = 0; k < first; ++k) tile_at_known_column(s, k * tile_, tile_);
  if (first < last)
    build().loop(emit_.integer(first * tile_), emit_.integer(last * tile_), emit_.integer(tile_),
                 [&](Reg at) { tile(s, at, tile_, [](int64_t) { return std::optional(kNone); }); });
  for (int64_t k = last; k < tiles; ++k) tile_at_known_column(s, k * tile_, tile_);
  if (*number % tile_ != 0) tile_at_known_column(s, tiles * tile_, static_cast<int>(*number % tile_));
}

void WindowLowering::tile_at_known_column(const State& s, int64_t at, int count) {
  const auto bounds = [&](int64_t q) -> std::optional<Reg> {
    const auto inside = lies_inside(at, q, q + 1);
    if (inside == std::optional(false)) return std::nullopt;
    return inside ? kNone : is_inside(emit_.integer(at), q);
  };
  tile(s, emit_.integer(at), count, bounds);
}

void WindowLowering::columns_in_a_loop(const State& s) {
  const Reg to = emit_.dim(extent(sum_.columns.output));
  const Reg whole = build().sub(to, build().expr(ExprOp::rem, {to, emit_.integer(tile_)}));
  build().loop(emit_.integer(0), whole, emit_.integer(tile_), [&](Reg at) { tile_with_bounds_check(s, at, tile_); });
  build().loop(whole, to, emit_.integer(1), [&](Reg at) { tile_with_bounds_check(s, at, 1); });
}

void WindowLowering::tile_with_bounds_check(const State& s, Reg at, int count) {
  const auto all = [](int64_t) { return std::optional(kNone); };
  if (sum_.columns.inside.always) return tile(s, at, count, all);
  const auto nothing = std::vector<Reg>{};
  const Reg inside = build().expr(ExprOp::logical_and, {is_after_begin(at, 0), is_before_end(at, span(count) - 1)});
  build().branch(
      inside,
      [&] {
        tile(s, at, count, all);
        return nothing;
      },
      [&] {
        tile(s, at, count, [&](int64_t q) { return std::optional(is_inside(at, q)); });
        return nothing;
      });
}

void WindowLowering::sum_windows(const State& here, int count, const std::vector<std::optional<Reg>>& conditions) {
  std::vector<std::optional<Reg>> masks = conditions;
  for (auto& m : masks)
    if (m) m = *m == kNone ? here.mask : mask_of(*m, here.mask);
  ExprNode zero;
  std::vector<Reg> sums(static_cast<size_t>(count), build().splat(emit_.constant({DType::f32, 1}, zero), emit_.lanes()));
  if (sum_.rows) {
    sums =
        build().loop(kernel_row_begin_, kernel_row_end_, emit_.integer(1), std::move(sums), [&](Reg row, const std::vector<Reg>& before) {
          State line = here;
          advance(line, sum_.rows->kernel, row);
          return add_kernel_row(line, masks, before);
        });
  } else {
    sums = add_kernel_row(here, masks, std::move(sums));
  }
  for (int t = 0; t < count && status_; ++t) status_ = finish(here, t, sums[static_cast<size_t>(t)]);
}

std::optional<int> WindowLowering::kernel_column(int64_t q, int t) const {
  const int64_t offset = q - t * sum_.columns.step;
  if (offset < 0 || offset % sum_.columns.dilation != 0 || offset / sum_.columns.dilation >= kernel_columns_) return std::nullopt;
  return static_cast<int>(offset / sum_.columns.dilation);
}

bool WindowLowering::is_read(int64_t q, int count) const {
  for (int t = 0; t < count; ++t)
    if (kernel_column(q, t)) return true;
  return false;
}

std::vector<Reg> WindowLowering::add_kernel_row(const State& s, const std::vector<std::optional<Reg>>& masks, std::vector<Reg> sums) {
  const Dim data_step = data_.at.coefficients[sum_.columns.kernel], weight_step = weights_.at.coefficients[sum_.columns.kernel];
  MemoryOptions channels;
  channels.mask = s.mask;
  std::vector<Reg> weights;
  for (int k = 0; k < kernel_columns_; ++k)
    weights.push_back(build().load(weights_.buffer, offset_by(s.weights, weight_step * k), emit_.lanes(), channels));
  // Neighbouring kernel columns are `dilation` columns of the data apart; the stride of one column of the data is needed.
  const Dim column_stride = *exact_quotient(data_step, Dim(sum_.columns.dilation));
  for (int64_t q = 0; q < static_cast<int64_t>(masks.size()); ++q) {
    if (!masks[static_cast<size_t>(q)]) continue;
    MemoryOptions how;
    how.mask = *masks[static_cast<size_t>(q)];
    const Reg x = build().load(data_.buffer, offset_by(s.data, column_stride * q), emit_.lanes(), how);
    for (int t = 0; t < static_cast<int>(sums.size()); ++t)
      if (const auto k = kernel_column(q, t))
        sums[static_cast<size_t>(t)] = build().fma(x, weights[static_cast<size_t>(*k)], sums[static_cast<size_t>(t)]);
  }
  return sums;
}

Result<void> WindowLowering::finish(const State& s, int t, Reg sum) {
  State here = s;
  if (t > 0) advance(here, sum_.columns.output, emit_.integer(t));
  const auto memory_of = [&](const WindowOperand& p) {
    MemoryOptions how;
    how.mask = s.mask;
    const Dim along = p.at.coefficients[sum_.channels];
    if (!(along == Dim(1))) how.stride = emit_.dim(along);
    return how;
  };
  if (epilogue_) {
    KernelEmitter::EvalContext context;
    context.load = [&](int k) -> Result<Reg> {
      if (k == epilogue_->accumulator) return sum;
      const WindowOperand& p = reads_[static_cast<size_t>(k)];
      const Reg at = here.reads[static_cast<size_t>(k)];
      if (p.at.coefficients[sum_.channels] == Dim(0)) return build().load(p.buffer, at, 1);
      return build().load(p.buffer, at, emit_.lanes(), memory_of(p));
    };
    sum = TRY(emit_.evaluate(epilogue_->map.outputs[0].value, context));
  }
  sum = build().splat(sum, emit_.lanes());
  if (build().type(sum).element != result_dtype_) sum = build().expr(ExprOp::cast, {sum}, result_dtype_);
  build().store(result_.buffer, here.result, sum, memory_of(result_));
  return {};
}

}  // namespace tenon::codegen
