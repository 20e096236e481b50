// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <unordered_map>

#include "codegen/lower/kernel.h"

namespace tenon::codegen {

/// What all lowerings share: argument buffers, sizes and constants of one kernel, each made once at its entry, and the evaluation of
/// scalar expressions on registers.
class KernelEmitter {
 public:
  KernelEmitter(Kernel& kernel, const Plan& plan, const Target& target, std::string name);

  TileBuilder& build() { return build_; }
  /// Those of f32 where nobody has said otherwise.
  int lanes() const { return lanes_; }
  void set_lanes(int lanes) { lanes_ = lanes; }  ///< before anything is built
  const Target& target() const { return target_; }
  const Plan& plan() const { return plan_; }

  /// The argument buffer of an array.
  int32_t buffer(ArrayId array, bool written);
  /// An i64 register, available everywhere in the kernel.
  Reg integer(int64_t value);
  Reg dim(Dim size);
  Reg constant(TileType type, const ExprNode& value);
  Reg iota();  ///< i64, 0 .. lanes-1

  /// Where an expression is evaluated.
  struct Place {
    std::vector<Reg> axes;                                           ///< i64, scalar, or a vector for the axis that runs along the lanes
    std::function<Result<Reg>(int access)> load;                     ///< the value of an access, for Expr::input
    std::unordered_map<const ExprNode*, std::pair<Expr, Reg>> memo;  ///< holds the expressions, so that no address comes twice
  };
  Result<Reg> evaluate(const Expr& e, Place& place);
  /// i64 sum of scalars: offset + sum of coefficient * axis over the axes listed; zero coefficients cost nothing.
  Reg add_scaled(Reg sum, Dim coefficient, Reg axis);

  /// Puts the entry code in front; call once, last.
  void finish();

 private:
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
