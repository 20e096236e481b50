// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <unordered_map>

#include "codegen/lower/kernel.h"

namespace tenon::codegen {

/// The part of a lowering that is the same for all kinds of groups: argument buffers, sizes and constants of a kernel, each emitted once at
/// its entry, and the evaluation of expressions on registers.
class KernelEmitter {
 public:
  KernelEmitter(Kernel& kernel, const Plan& plan, const Target& target, std::string name);

  TileBuilder& build() { return build_; }
  /// Lanes of a vector in this kernel; those of f32 unless set_lanes was called.
  int lanes() const { return lanes_; }
  void set_lanes(int lanes) { lanes_ = lanes; }  ///< call before anything is emitted
  const Target& target() const { return target_; }
  const Plan& plan() const { return plan_; }

  /// The argument buffer of an array.
  int32_t buffer(ArrayId array, bool written);
  /// An i64 scalar, visible in all of the kernel.
  Reg integer(int64_t value);
  /// The value of a size, an i64 scalar: a constant or a size argument.
  Reg dim(Dim size);
  Reg constant(TileType type, const ExprNode& value);
  Reg iota();  ///< i64, 0 .. lanes-1

  /// The values of an expression's leaves at one point of a kernel.
  struct EvalContext {
    std::vector<Reg> axes;                        ///< i64, by axis: a scalar, or a vector for the vectorised axis
    std::function<Result<Reg>(int access)> load;  ///< emits the load of an access, for Expr::input
    std::unordered_map<const ExprNode*, std::pair<Expr, Reg>>
        memo;  ///< registers of evaluated expressions. Keeps the expressions alive, so that keys are unique
  };
  Result<Reg> evaluate(const Expr& e, EvalContext& context);
  /// sum + coefficient * axis, of i64 scalars; `sum` where the coefficient is 0. A sum of kNone counts as 0.
  Reg add_scaled(Reg sum, Dim coefficient, Reg axis);

  /// Inserts the entry code before the body; call once, at the end.
  void finish();

 private:
  /// Adds an instruction to the entry code.
  Reg at_entry(TileInstr instr, TileType type);

  Kernel& kernel_;
  const Plan& plan_;
  const Target& target_;
  int lanes_ = target_.lanes();
  TileBuilder build_;
  TileBlock entry_;
  std::unordered_map<ArrayId, int32_t> buffers_;
  std::unordered_map<Dim, Reg> dims_;
  std::map<std::tuple<DType, int64_t, double>, Reg> constants_;
  Reg iota_ = kNone;
};

}  // namespace tenon::codegen
