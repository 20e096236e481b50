// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/kernel_emitter.h"
#include "codegen/lower/schedule.h"
#include "codegen/lower/step_limits.h"

namespace tenon::codegen {

/// How many registers of partial sums a reduction along the vectorised axis keeps, so that additions are independent.
int partial_sums_of_reduction(const Nest& nest, int vector, int lanes);

/// An access or output of a nest: its buffer and its element number. Loops keep the offset of an affine one in a register (State::offsets).
struct Cursor {
  int32_t buffer = -1;
  Expr flat;                     ///< element number in memory
  std::optional<Affine> affine;  ///< `flat` over the axes; nullopt: not affine, `flat` is evaluated at each use
};

/// Emits the loops of one nest, inside a task.
class NestLowering {
 public:
  NestLowering(KernelEmitter& emit, const Nest& nest, const Schedule& schedule, const LoopTactic& tactic);

  /// axes: registers of the first schedule.outer axes; [from, to): the part of axis schedule.cut of this task where there is one.
  Result<void> run(std::vector<Reg> outer_axes, Reg from, Reg to);

 private:
  /// The registers at one point of the emitted loops.
  struct State {
    std::vector<Reg> axes;     ///< step of each axis; kNone: its loop is not entered yet
    std::vector<Reg> offsets;  ///< element offsets of reads_, then writes_, as far as loops are entered
    int vector = -1;           ///< the axis along the lanes
    Reg mask = kNone;          ///< lanes inside the vector axis; kNone: all
    int square_row = -1;       ///< number of the row of a square that is emitted, whose transposed loads are in square_rows_; -1: none
    /// Of reads_, then writes_: the value of `within` that was evaluated before the innermost loop, for all lanes: a mask, or, for reads in
    /// a reduction, a bool. kNone: `within` is evaluated at each use.
    std::vector<Reg> conditions;
  };

  TileBuilder& build() { return emit_.build(); }

  Cursor cursor(ArrayId array, Expr flat, int axes, bool written);
  /// The element offset in a task, before any loop is entered.
  Reg first_offset(const Cursor& c, const State& state);

  /// Enters an axis at step `at`: adds its part to all offsets.
  void advance(State& state, int axis, Reg at);

  bool is_reduction(int axis) const {
    return axis < static_cast<int>(nest_.axes.size()) && nest_.axes[axis].kind != ops::Axis::Kind::parallel;
  }
  bool is_vector_reduced() const { return schedule_.vector >= 0 && is_reduction(schedule_.vector); }
  bool is_vector_parallel() const { return schedule_.vector >= 0 && !is_reduction(schedule_.vector); }

  /// Emits the axes from `axis` inwards; `carried` are the accumulators, whose new values are returned.
  Result<std::vector<Reg>> enter(int axis, const State& state, const std::vector<Reg>& carried);
  Result<std::vector<Reg>> enter_axis(int axis, const State& state, const std::vector<Reg>& carried);
  /// The axes from `axis` on, behind a branch on the nest's condition.
  Result<std::vector<Reg>> enter_where_true(int axis, const State& state);

  /// Whether the axis is a reduced one whose steps are emitted one after the other, without a loop.
  bool is_unrolled(int axis) const;
  /// Narrows [from, to), the range of a loop over the axis, to the steps that limits_ allow.
  void apply_limits(int axis, const State& state, Reg& from, Reg& to);

  /// Whether the axes from this one on, but for the vectorised one, have at most unroll_ * unroll_ points together.
  bool is_small_window_from(int axis) const;

  /// Emits each step of a short axis without a loop, so that offsets are constants.
  Result<std::vector<Reg>> unrolled(int axis, const State& state, std::vector<Reg> carried, int64_t extent);
  /// A loop over steps from, from + step, ... below `to` of the axis.
  Result<std::vector<Reg>> loop_over(int axis, const State& state, const std::vector<Reg>& carried, Reg from, Reg to, int64_t step);

  /// The loop over the vectorised axis: full registers first, then one masked step for the lanes that remain. A long body is emitted once,
  /// and each of its steps is masked: a mask costs it little, and a second copy would double the time of code generation.
  Result<std::vector<Reg>> vector_loop(int axis, const State& outside, std::vector<Reg> carried);
  /// The first part of a reduction along the lanes: a loop that takes kPartialSums full registers at once, into as many partial sums, which
  /// are added at its end. Moves `from` to the registers that remain.
  Result<std::vector<Reg>> interleaved_sums(int axis, const State& state, const std::vector<Reg>& carried, Reg& from, Reg to);
  /// Before the vectorised axis, where it is the innermost: evaluates each `within` that is equal in all lanes, once.
  Result<State> with_lane_masks(int axis, State state);
  /// Before the innermost axis of a reduction: evaluates each read's `within` that is equal at all of its steps, once.
  Result<State> with_read_conditions(int axis, State state);
  /// One register from step `at` on, of which only lanes below `to` are loaded, combined and stored.
  Result<std::vector<Reg>> masked_step(int axis, const State& state, const std::vector<Reg>& carried, Reg at, Reg to);

  /// Loops over the transposed axis and the vectorised axis, square by square (nest_squares.cpp): rows of a square are steps of the
  /// transposed axis, columns are steps of the vectorised one.
  Result<void> squares(const State& state);
  /// rows_left, columns_left: steps from the square's first one to the end of the axis; kNone: the square is full.
  Result<void> square(const State& at, Reg rows_left, Reg columns_left);
  /// The rows of a square of read number k.
  Result<std::vector<Reg>> transposed(int k, const State& at, Reg rows_left, Reg columns_left);
  State moved(State state, int axis, Reg by);
  /// One past the last step of the axis in this task.
  Reg end_of(int axis);

  std::vector<Reg> identities();  ///< identity elements of the outputs' combinations
  /// All reduced (or scanned) axes from here on: accumulators start at the identity and are stored at the end.
  Result<std::vector<Reg>> reduce_from(int axis, const State& state);

  /// The running combination, stored at each step.
  Result<std::vector<Reg>> scan(int axis, const State& state, const std::vector<Reg>& start);
  /// Combines the values of one step with `before` and stores the results, which it returns.
  Result<std::vector<Reg>> scan_step(const State& state, const std::vector<Reg>& before);
  /// The body: stores the outputs, or, in a reduction, returns the accumulators with this point's values added.
  Result<std::vector<Reg>> innermost(const State& state, const std::vector<Reg>& carried);
  Result<Reg> accumulate(const NestOutput& o, Reg before, const State& state, KernelEmitter::EvalContext& context);
  /// sum + value, one fused multiply-add for each product of the value.
  Result<Reg> add_products(const Expr& value, Reg sum, KernelEmitter::EvalContext& context);
  KernelEmitter::EvalContext context_for(const State& state);
  Result<Reg> load(int k, const State& state);

  /// `offset` where the scalar condition `within` holds, else 0, since every buffer has an element 0. Beyond a buffer there may be unmapped
  /// memory, where even an access with an empty mask is slow. Where `within` is a mask: `offset`.
  Reg safe_offset(Reg within, Reg offset);
  /// Loads one element; where `within` is false, the result is the fill.
  Result<Reg> load_scalar(int k, Reg offset, Reg within, const State& state);

  /// Element numbers of a register's lanes, as in MemoryOptions.
  struct LaneAddresses {
    Reg offset = kNone, stride = kNone, offsets = kNone;
    int lanes = 1;  ///< 1: all lanes access one element
  };
  Result<LaneAddresses> addresses_of(const Cursor& c, Reg offset, const State& state);
  /// The stride of `flat` along the axis, in elements, where `flat` contains loads; nullopt where it cannot be determined.
  std::optional<int64_t> stride_along(const Expr& flat, int axis) const;
  Result<void> store(size_t k, Reg value, const State& state, KernelEmitter::EvalContext* context);

  KernelEmitter& emit_;
  Nest nest_;  ///< without the conditions that became limits_
  StepLimits limits_;
  const Schedule schedule_;
  const int64_t unroll_;
  int condition_at_ = -1;  ///< axis before which the nest's condition is loaded; -1: it has none
  std::vector<Cursor> reads_, writes_;
  std::vector<std::vector<Reg>> square_rows_;  ///< by read: the rows of the current square, where the read is transposed
  Reg task_begin_ = kNone, task_end_ = kNone;  ///< steps of axis Schedule::cut in this task
  bool inside_reduction_ = false;              ///< a loop over reduced axes is being emitted
};

}  // namespace tenon::codegen
