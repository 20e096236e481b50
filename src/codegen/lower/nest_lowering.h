// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/kernel_emitter.h"
#include "codegen/lower/schedule.h"
#include "codegen/lower/step_limits.h"

namespace tenon::codegen {

/// How many registers of partial sums a reduction along the vectorised axis keeps, so that additions are independent.
int sums_of_a_row(const Nest& nest, int vector, int lanes);

/// An access or output of a nest, whose element offset is updated as loops are entered.
struct Cursor {
  int32_t buffer = -1;
  Expr flat;
  std::optional<Affine> affine;  ///< nullopt: `flat` is evaluated at each use
};

/// Emits the loops of one nest, inside a task.
class NestLowering {
 public:
  NestLowering(KernelEmitter& emit, const Nest& nest, const Schedule& schedule, const LoopTactic& tactic);

  /// axes: registers of the first schedule.outer axes; [from, to): the part of axis schedule.cut of this task where there is one.
  Result<void> run(std::vector<Reg> outer_axes, Reg from, Reg to);

 private:
  struct State {
    std::vector<Reg> axes;
    std::vector<Reg> offsets;  ///< reads, then writes
    int vector = -1;           ///< the axis along the lanes
    Reg mask = kNone;          ///< lanes inside the vector axis; kNone: all
    int column = -1;           ///< of a square, where its loads are transposed
    std::vector<Reg> whole;    ///< reads, then writes: the mask (of a reduction's reads: the bool) whether all lanes are inside, or none;
                               ///< kNone: to be evaluated
  };

  TileBuilder& build() { return emit_.build(); }

  Cursor cursor(ArrayId array, Expr flat, int axes, bool written);
  Reg start(const Cursor& c, const State& state);

  void advance(State& state, int axis, Reg at);

  bool reducing(int axis) const { return axis < static_cast<int>(nest_.axes.size()) && nest_.axes[axis].kind != ops::Axis::Kind::parallel; }
  bool vector_reduced() const { return schedule_.vector >= 0 && reducing(schedule_.vector); }
  bool vector_parallel() const { return schedule_.vector >= 0 && !reducing(schedule_.vector); }

  /// Emits the axes from `axis` inwards; `carried` are the accumulators, whose new values are returned.
  Result<std::vector<Reg>> enter(int axis, const State& state, const std::vector<Reg>& carried);
  Result<std::vector<Reg>> enter_axis(int axis, const State& state, const std::vector<Reg>& carried);
  /// The axes from `axis` on, behind a branch on the nest's condition.
  Result<std::vector<Reg>> enter_where_true(int axis, const State& state);

  /// Whether the axis is a reduced one whose steps are written out.
  bool is_written_out(int axis) const;
  /// Moves the ends of a loop over the axis to the steps that its limits allow.
  void limit(int axis, const State& state, Reg& from, Reg& to);

  /// All axes from this one on together make a window of at most that many steps squared.
  bool small_from(int axis) const;

  /// A short window is written out, so that its places are constants.
  Result<std::vector<Reg>> unrolled(int axis, const State& state, std::vector<Reg> carried, int64_t extent);
  Result<std::vector<Reg>> walk(int axis, const State& state, const std::vector<Reg>& carried, Reg from, Reg to, int64_t step);

  /// Whole registers first, then one masked rest. A long body is emitted once: masks cost it nothing that shows, a copy would cost the
  /// code generator as much again.
  Result<std::vector<Reg>> strips(int axis, const State& outside, std::vector<Reg> carried);
  /// Whole registers of a row that is summed up, as long as there are several; `from` is moved to those that are left.
  Result<std::vector<Reg>> side_by_side(int axis, const State& state, const std::vector<Reg>& carried, Reg& from, Reg to);
  /// Where all lanes are inside or none, that is found out once before they are walked.
  Result<State> with_masks(int axis, State state);
  /// Before the innermost axis of a reduction: what says whether reads are inside, where it is the same at each of its steps.
  Result<State> with_bounds(int axis, State state);
  Result<std::vector<Reg>> masked(int axis, const State& state, const std::vector<Reg>& carried, Reg at, Reg to);

  /// The transposed axis and the vector axis by squares of registers (nest_squares.cpp).
  Result<void> squares(const State& state);
  /// left: rows and columns that there are from here on; kNone: a whole square.
  Result<void> square(const State& at, Reg rows_left, Reg columns_left);
  Result<std::vector<Reg>> transposed(int k, const State& at, Reg rows_left, Reg columns_left);
  State moved(State state, int axis, Reg by);
  Reg end_of(int axis);

  std::vector<Reg> identities();  ///< of the outputs' combinations
  /// All reduced (or scanned) axes from here on: accumulators start at the identity and are stored at the end.
  Result<std::vector<Reg>> reduce_from(int axis, const State& state);

  /// The running combination, stored at each step.
  Result<std::vector<Reg>> scan(int axis, const State& state, const std::vector<Reg>& start);
  Result<std::vector<Reg>> scan_step(const State& state, const std::vector<Reg>& before);
  Result<std::vector<Reg>> innermost(const State& state, const std::vector<Reg>& carried);
  Result<Reg> accumulate(const NestOutput& o, Reg before, const State& state, KernelEmitter::EvalContext& context);
  /// sum + value, one fused multiply-add for each product of the value.
  Result<Reg> add_products(const Expr& value, Reg sum, KernelEmitter::EvalContext& context);
  KernelEmitter::EvalContext context_for(const State& state);
  Result<Reg> load(int k, const State& state);

  /// The offset where all lanes are inside, or none: then that of element 0, which every buffer has. Further out there may be no memory,
  /// and what touches none takes long, even where its mask is empty.
  Reg inside(Reg within, Reg offset);
  /// Out of bounds, what is read is thrown away.
  Result<Reg> load_scalar(int k, Reg offset, Reg within, const State& state);

  struct Where {
    Reg offset = kNone, stride = kNone, offsets = kNone;
    int lanes = 1;  ///< 1: all lanes are at one place
  };
  Result<Where> where(const Cursor& c, Reg offset, const State& state);
  /// Elements from step to step of the axis, of a place that is loaded in part; nullopt where it cannot be determined.
  std::optional<int64_t> steps_along(const Expr& flat, int axis) const;
  Result<void> store(size_t k, Reg value, const State& state, KernelEmitter::EvalContext* context);

  KernelEmitter& emit_;
  Nest nest_;  ///< without the conditions that limits_ keeps
  StepLimits limits_;
  const Schedule schedule_;
  const int64_t unroll_;
  int condition_at_ = -1;  ///< axis before which the nest's condition is loaded; -1: it has none
  std::vector<Cursor> reads_, writes_;
  std::vector<std::vector<Reg>> columns_;  ///< of the transposed reads, in a square
  Reg from_ = kNone, to_ = kNone;
  bool inside_reduction_ = false;
};

}  // namespace tenon::codegen
