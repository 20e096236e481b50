// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/Module.h>

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/llvm/emit.h"
#include "codegen/tile/tile.h"

namespace tenon::codegen::machine {

/// A function on whole registers (exp, erf, ...) that is generated once, and that kernels call where an inlined copy is too long.
struct Subroutine {
  ExprOp op = ExprOp::exp;
  DType dtype = DType::f32;
  int lanes = 1;

  friend auto operator<=>(const Subroutine&, const Subroutine&) = default;
  std::string symbol() const;
  /// The function in the module; declares it on first use.
  llvm::Function* declare(llvm::Module& module, const Target& target) const;
  /// Defines the function's body. Errors: not_supported (the operator has no emission for this dtype).
  Result<void> define(llvm::Module& module, const Target& target) const;
};

/// The subroutine for this instruction; nullopt: the instruction is no function.
std::optional<Subroutine> subroutine_of(const TileInstr& in);

/// Which kernels call subroutines, and which subroutines.
struct SubroutineCalls {
  std::vector<bool> is_caller;          ///< by kernel: whether it calls subroutines
  std::vector<Subroutine> subroutines;  ///< all that are called, sorted
};

/// Decides between calls and inlined copies. Copies are 20 to 150 instructions each, and code generation is the slowest part of a build; a
/// call spills live registers, which is slower for the few functions of usual kernels. So a kernel with many functions calls them, and so
/// do all kernels of a program with very many copies. Cost: linear in the instructions.
SubroutineCalls subroutine_calls_of(std::span<const TileKernel> kernels);

/// An empty function with the attributes that all generated code has.
llvm::Function* new_function(llvm::Module& module, llvm::FunctionType* type, const std::string& symbol, const Target& target);

}  // namespace tenon::codegen::machine
