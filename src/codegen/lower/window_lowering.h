// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/analysis/places.h"
#include "codegen/analysis/window_sum.h"
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// An array that the kernel reads or writes. buffer: its argument; at: the element number, over the nest's axes.
struct WindowOperand {
  int32_t buffer = -1;
  Affine at;
};

/// Emits the kernel of a window sum: tiles of neighbouring sums over blocks of channels.
class WindowLowering {
 public:
  WindowLowering(Kernel& kernel, const Plan& plan, const Target& target, const Nest& nest, const WindowSum& sum);

  /// places: of the epilogue; ignored where `epilogue` is null.
  void set_epilogue(const Epilogue* epilogue, EpiloguePlaces places);

  /// Whether tasks are numbered by these axes first, outermost first. Axes with one step do not count.
  bool has_leading_task_axes(const std::vector<int>& axes) const;

  Result<void> run(int64_t grain);

  /// Loads for each product: a tile of neighbouring sums loads each element of a row of their windows, and each weight, once.
  double loads_of_product() const {
    return static_cast<double>(span(tile_) + kernel_columns_) / static_cast<double>(int64_t{tile_} * kernel_columns_);
  }

  /// How its tasks access each argument of the kernel.
  std::vector<AccessPattern> access_patterns() const;

 private:
  /// Registers of channels in a task: so few that their part of the image's rows fits in the first-level cache.
  static constexpr int64_t kRegistersOfChannels = 8;

  TileBuilder& build() { return emit_.build(); }
  int64_t block() const { return kRegistersOfChannels * emit_.lanes(); }
  Dim extent(int axis) const { return nest_.axes[axis].extent; }

  template <class Where>
  WindowOperand place(const Where& where, bool written) {
    return {emit_.buffer(where.array, written), *affine_of(flat_of(where, emit_.plan()), static_cast<int>(nest_.axes.size()))};
  }

  /// The registers at one point of the loops: element offsets of the first column of sums and the first lane. The offset of the data is
  /// that of the first row and column of the window.
  struct State {
    Reg data = kNone, weights = kNone, result = kNone;
    std::vector<Reg> reads;
    Reg row = kNone;   ///< of the sums
    Reg mask = kNone;  ///< of the channels; kNone: all lanes
  };

  /// Adds `at` steps of the axis to all offsets.
  void advance(State& s, int axis, Reg at);

  void task(Reg t, const std::vector<Dim>& extents);

  /// ceil(a / b) for a >= 0; at most 0 for others: the caller takes the maximum with 0.
  Reg steps_to(Reg a, int64_t b) {
    return b == 1 ? a : build().expr(ExprOp::div, {build().add(a, emit_.integer(b - 1)), emit_.integer(b)});
  }

  /// Sets kernel_row_begin_ and kernel_row_end_ to the kernel rows whose data is not in the padding.
  void limit_kernel_rows(const State& s);

  /// Emits body(state) for each register of the channels of the task.
  template <class Body>
  void each_channel_register(const State& s, Body body);

  // --- columns

  /// The data's column at which the window of sum `first` begins.
  Dim column(Dim first) const { return first * sum_.columns.step + sum_.columns.offset; }
  /// Columns of the data in the windows of `count` neighbouring sums.
  int64_t span(int count) const { return (count - 1) * sum_.columns.step + (kernel_columns_ - 1) * sum_.columns.dilation + 1; }

  /// Whether columns [from, to), counted from the first one of the window of sum `first`, are in the data; nullopt: known only at run time.
  std::optional<bool> lies_inside(Dim first, int64_t from, int64_t to) const;

  /// Emits the sums of all columns of one row.
  void emit_columns(const State& s);

  /// A tile of `count` sums from column `at` on, whose bounds are partly known.
  void tile_at_known_column(const State& s, int64_t at, int count);

  /// Loops over whole tiles, then over single columns.
  void columns_in_a_loop(const State& s);

  /// Emits the tile with and without masks, and a branch that takes the latter where all of its columns are in the data.
  void tile_with_bounds_check(const State& s, Reg at, int count);

  /// The data's column that is `q` after the first one of the window of sum `at`.
  Reg column(Reg at, int64_t q) {
    return build().add(build().mul(at, emit_.integer(sum_.columns.step)), emit_.dim(sum_.columns.offset + q));
  }
  Reg is_after_begin(Reg at, int64_t q) { return build().expr(ExprOp::less_equal, {emit_.dim(sum_.columns.inside.from), column(at, q)}); }
  Reg is_before_end(Reg at, int64_t q) { return build().expr(ExprOp::less, {column(at, q), emit_.dim(sum_.columns.inside.to)}); }
  Reg is_inside(Reg at, int64_t q) { return build().expr(ExprOp::logical_and, {is_after_begin(at, q), is_before_end(at, q)}); }

  // --- a tile

  /// Emits a tile of `count` sums from column `at` on. bounds(q): the condition under which column q of the windows is in the data; kNone:
  /// always; nullopt: never.
  template <class Bounds>
  void tile(const State& s, Reg at, int count, Bounds bounds);

  /// conditions: by column of the windows, as `bounds` of tile().
  void sum_windows(const State& here, int count, const std::vector<std::optional<Reg>>& conditions);

  Reg mask_of(Reg condition, Reg channels) {
    const Reg lanes = build().splat(condition, emit_.lanes());
    return channels == kNone ? lanes : build().expr(ExprOp::logical_and, {lanes, channels});
  }

  /// The kernel's column that sum t multiplies with column q; nullopt where it is none.
  std::optional<int> kernel_column(int64_t q, int t) const;
  /// Whether one of `count` sums reads column q of the windows (with a dilation, some are not read).
  bool is_read(int64_t q, int count) const;

  /// Adds the products of one row of the kernel: each column of the data is loaded once, for all sums that read it.
  std::vector<Reg> add_kernel_row(const State& s, const std::vector<std::optional<Reg>>& masks, std::vector<Reg> sums);

  Reg offset_by(Reg offset, Dim elements) { return elements == Dim(0) ? offset : build().add(offset, emit_.dim(elements)); }

  /// Runs the epilogue on sum number t of a tile, and stores the result.
  Result<void> finish(const State& s, int t, Reg sum);

  Kernel& kernel_;
  KernelEmitter emit_;
  const Nest& nest_;
  const WindowSum& sum_;
  const Epilogue* epilogue_ = nullptr;
  WindowOperand data_, weights_, result_;
  std::vector<WindowOperand> reads_;  ///< of the epilogue; buffer -1: the sum
  DType result_dtype_ = DType::f32;
  int kernel_columns_ = 0;      ///< columns of the kernel
  int tile_ = 1;                ///< neighbouring sums (columns) of a tile
  std::vector<int> task_axes_;  ///< axes whose steps are tasks, in addition to blocks of channels
  bool tiles_first_ = false;    ///< the loop over tiles is outside of that over registers of channels; false: inside
  Reg kernel_row_begin_ = kNone, kernel_row_end_ = kNone;  ///< range of kernel rows that the current row of sums reads
  Reg first_channel_ = kNone;                              ///< of the task
  Result<void> status_;
};

}  // namespace tenon::codegen
