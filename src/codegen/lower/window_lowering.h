// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/analysis/places.h"
#include "codegen/analysis/window_sum.h"
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// An array that the kernel reads or writes, its place affine in the nest's axes.
struct WindowOperand {
  int32_t buffer = -1;
  Affine at;
};

/// Emits the kernel of a window sum: tiles of neighbouring sums over blocks of channels.
class WindowLowering {
 public:
  WindowLowering(Kernel& kernel, const Plan& plan, const Target& target, const Nest& nest, const WindowSum& sum);

  /// places: without an epilogue, of no use.
  void set_epilogue(const Epilogue* epilogue, EpiloguePlaces places);

  /// Whether its tasks run over those axes first; of an axis with one step there is nothing to say.
  bool runs_by(const std::vector<int>& axes) const;

  Result<void> run(int64_t grain);

  /// Of a product: a tile of neighbouring sums loads what their windows hold of a row, and the weights, once.
  double loads_of_product() const {
    return static_cast<double>(span(tile_) + kernel_columns_) / static_cast<double>(int64_t{tile_} * kernel_columns_);
  }

  /// How its tasks access each argument of the kernel.
  std::vector<AccessPattern> access_patterns() const;

 private:
  /// Channels of a task: their part of the image's rows is what the first-level cache holds.
  static constexpr int64_t kRegistersOfChannels = 8;

  TileBuilder& build() { return emit_.build(); }
  int64_t block() const { return kRegistersOfChannels * emit_.lanes(); }
  Dim extent(int axis) const { return nest_.axes[axis].extent; }

  template <class Where>
  WindowOperand place(const Where& where, bool written) {
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
  void advance(State& s, int axis, Reg at);

  void task(Reg t, const std::vector<Dim>& extents);

  /// ceil(a / b), for what a maximum with 0 follows.
  Reg steps_to(Reg a, int64_t b) {
    return b == 1 ? a : build().expr(ExprOp::div, {build().add(a, emit_.integer(b - 1)), emit_.integer(b)});
  }

  /// The kernel's rows that lie in the data.
  void find_rows(const State& s);

  /// Calls body(state) for each register of the block's channels.
  template <class Body>
  void strips(const State& s, Body body);

  // --- columns

  /// Of the data: where the windows of `count` sums from column `first` on begin and end.
  Dim column(Dim first) const { return first * sum_.columns.step + sum_.columns.offset; }
  int64_t span(int count) const { return (count - 1) * sum_.columns.step + (kernel_columns_ - 1) * sum_.columns.dilation + 1; }

  /// Whether they lie in the data; nullopt where that is not known here.
  std::optional<bool> lies_inside(Dim first, int64_t from, int64_t to) const;

  void columns(const State& s);

  void fixed_tile(const State& s, int64_t at, int count);

  /// Whole tiles, then one column after the other.
  void unknown_columns(const State& s);

  void checked_tile(const State& s, Reg at, int count);

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
  void tile(const State& s, Reg at, int count, Bounds bounds);

  void sums_of(const State& here, int count, const std::vector<std::optional<Reg>>& conditions);

  Reg mask_of(Reg condition, Reg channels) {
    const Reg lanes = build().splat(condition, emit_.lanes());
    return channels == kNone ? lanes : build().expr(ExprOp::logical_and, {lanes, channels});
  }

  /// The kernel's column that sum t multiplies with column q; nullopt where it is none.
  std::optional<int> kernel_column(int64_t q, int t) const;
  bool needed(int64_t q, int count) const;

  /// One row of the kernel: each column of the data is loaded once, for all sums whose windows hold it.
  std::vector<Reg> add_line(const State& s, const std::vector<std::optional<Reg>>& masks, std::vector<Reg> sums);

  Reg moved_by(Reg offset, Dim elements) { return elements == Dim(0) ? offset : build().add(offset, emit_.dim(elements)); }

  Result<void> finish(const State& s, int t, Reg sum);

  Kernel& kernel_;
  KernelEmitter emit_;
  const Nest& nest_;
  const WindowSum& sum_;
  const Epilogue* epilogue_ = nullptr;
  WindowOperand data_, weights_, result_;
  std::vector<WindowOperand> reads_;
  DType stored_ = DType::f32;
  int kernel_columns_ = 0, tile_ = 1;
  std::vector<int> outer_;    ///< axes of the tasks, beside blocks of channels
  bool tiles_first_ = false;  ///< a task goes from tile to tile, over all its channels; else from channels to channels, over all tiles
  Reg rows_from_ = kNone, rows_to_ = kNone, first_channel_ = kNone;
  Result<void> status_;
};

}  // namespace tenon::codegen
