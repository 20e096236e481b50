// SPDX-License-Identifier: Apache-2.0
// Maps that load along one axis and store along another: squares of both are transposed in registers.
#include "codegen/lower/nest_lowering.h"

namespace tenon::codegen {

Reg NestLowering::end_of(int axis) { return axis == schedule_.cut ? task_end_ : emit_.dim(nest_.axes[axis].extent); }

Result<void> NestLowering::squares(const State& state) {
  const int rows = schedule_.transposed, columns = schedule_.vector, lanes = emit_.lanes();
  const auto is_whole = [&](int axis) { return mod(nest_.axes[axis].extent, Dim(lanes)) == Dim(0); };
  const auto begin_of = [&](int axis) { return axis == schedule_.cut ? task_begin_ : emit_.integer(0); };
  Result<void> status;
  const auto emit_square = [&](const State& at, Reg rows_left, Reg columns_left) {
    if (auto r = square(at, rows_left, columns_left); !r && status) status = std::move(r);
    return std::vector<Reg>{};
  };
  build().loop(begin_of(rows), end_of(rows), emit_.integer(lanes), [&](Reg row) {
    build().loop(begin_of(columns), end_of(columns), emit_.integer(lanes), [&](Reg column) {
      State at = state;
      advance(at, rows, row);
      advance(at, columns, column);
      if (is_whole(rows) && is_whole(columns)) return void(emit_square(at, kNone, kNone));
      const Reg rows_left = build().sub(end_of(rows), row), columns_left = build().sub(end_of(columns), column);
      const Reg least = build().min(rows_left, columns_left);
      build().branch(
          build().expr(ExprOp::less_equal, {emit_.integer(lanes), least}), [&] { return emit_square(at, kNone, kNone); },
          [&] { return emit_square(at, rows_left, columns_left); });
    });
  });
  return status;
}

Result<void> NestLowering::square(const State& at, Reg rows_left, Reg columns_left) {
  square_rows_.assign(reads_.size(), {});
  for (size_t k = 0; k < reads_.size(); ++k)
    if (reads_[k].affine && is_transposed(*reads_[k].affine, schedule_))
      square_rows_[k] = TRY(transposed(static_cast<int>(k), at, rows_left, columns_left));
  Result<void> status;
  State row = at;
  row.mask = columns_left == kNone ? kNone : build().first_mask(columns_left, emit_.lanes());
  for (int i = 0; i < emit_.lanes(); ++i) {
    State line = moved(row, schedule_.transposed, emit_.integer(i));
    line.square_row = i;
    const auto emit_line = [&] {
      if (auto r = innermost(line, {}); !r && status) status = std::unexpected(r.error());
      return std::vector<Reg>{};
    };
    if (rows_left == kNone) emit_line();
    else build().branch(build().expr(ExprOp::less, {emit_.integer(i), rows_left}), emit_line, [] { return std::vector<Reg>{}; });
  }
  return status;
}

/// Columns are contiguous in memory: they are loaded as registers and transposed into rows. Where the square has fewer columns than lanes,
/// the last one is loaded again in place of those that it lacks: memory beyond it may be unmapped, where even a load with an empty mask is
/// slow.
Result<std::vector<Reg>> NestLowering::transposed(int k, const State& at, Reg rows_left, Reg columns_left) {
  State column = at;
  column.vector = schedule_.transposed;
  column.mask = rows_left == kNone ? kNone : build().first_mask(rows_left, emit_.lanes());
  const Reg last = columns_left == kNone ? kNone : build().sub(columns_left, emit_.integer(1));
  std::vector<Reg> lines;
  for (int i = 0; i < emit_.lanes(); ++i) {
    const Reg number = emit_.integer(i);
    const State line = moved(column, schedule_.vector, last == kNone ? number : build().min(number, last));
    lines.push_back(TRY(load(k, line)));
  }
  return build().transpose(std::move(lines));
}

NestLowering::State NestLowering::moved(State state, int axis, Reg by) {
  state.axes[axis] = build().add(state.axes[axis], by);
  size_t k = 0;
  for (const auto* list : {&reads_, &writes_})
    for (const Cursor& c : *list) {
      if (c.affine) state.offsets[k] = emit_.add_scaled(state.offsets[k], c.affine->coefficients[axis], by);
      ++k;
    }
  return state;
}

}  // namespace tenon::codegen
