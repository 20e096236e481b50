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

/// A function on whole registers that the kernels of a program call instead of holding a copy. It is generated once.
struct Subroutine {
  ExprOp op = ExprOp::exp;
  DType dtype = DType::f32;
  int lanes = 1;

  friend auto operator<=>(const Subroutine&, const Subroutine&) = default;
  std::string symbol() const;
  /// Its function in the module, declared on first use.
  llvm::Function* declare(llvm::Module& module, const Target& target) const;
  /// Gives it its body. Errors: not_supported (the operator has no emission for this dtype).
  Result<void> define(llvm::Module& module, const Target& target) const;
};

/// The subroutine that computes this instruction; nullopt: it is not a function.
std::optional<Subroutine> subroutine_of(const TileInstr& in);

/// What a program calls.
struct Calls {
  std::vector<bool> from;           ///< by kernel: it calls subroutines for its functions
  std::vector<Subroutine> targets;  ///< each once, in order
};

/// Copies of functions are 20 to 150 instructions each, and code generation is the slowest part of a build; a call spills what is live,
/// which the few functions of usual kernels are not worth. So a kernel of many functions calls them, and so do all kernels of a program
/// that would hold very many copies. Cost: linear in the instructions.
Calls calls_of(std::span<const TileKernel> kernels);

/// An empty function with the attributes that all generated code has.
llvm::Function* new_function(llvm::Module& module, llvm::FunctionType* type, const std::string& symbol, const Target& target);

}  // namespace tenon::codegen::machine
