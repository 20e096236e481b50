// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/subroutines.h"

#include <fmt/format.h>

#include <set>

#include "codegen/llvm/vector.h"
#include "codegen/tile/scalar.h"

namespace tenon::codegen::machine {
namespace {

constexpr int kMaxCopies = 8;             ///< most inlined copies of f32 functions in a kernel
constexpr int kMaxCopiesInProgram = 256;  ///< usual networks have fewer than 20, since their layers share kernels

/// The length of the instruction's inlined copy, in copies of an f32 function; 0: the instruction is no function.
int copies_of(const TileInstr& in) {
  if (!subroutine_of(in)) return 0;
  const bool has_f32_version = in.expr_op == ExprOp::exp || in.expr_op == ExprOp::tanh || in.expr_op == ExprOp::erf;
  return has_f32_version && in.type.element != DType::f64 ? 1 : 2;
}

int copies_of(const TileBlock& instructions) {
  int sum = 0;
  for (const TileInstr& in : instructions) sum += copies_of(in) + copies_of(in.body) + copies_of(in.otherwise);
  return sum;
}

void collect(const TileBlock& instructions, std::set<Subroutine>& out) {
  for (const TileInstr& in : instructions) {
    if (const auto s = subroutine_of(in)) out.insert(*s);
    collect(in.body, out);
    collect(in.otherwise, out);
  }
}

}  // namespace

std::optional<Subroutine> subroutine_of(const TileInstr& in) {
  const bool function = (in.expr_op >= ExprOp::exp && in.expr_op <= ExprOp::erf) || in.expr_op == ExprOp::pow;
  if (in.op != TileOp::expr || !function || !is_arithmetic_float(in.type.element)) return std::nullopt;
  return Subroutine{in.expr_op, in.type.element, in.type.lanes};
}

SubroutineCalls subroutine_calls_of(std::span<const TileKernel> kernels) {
  std::vector<int> copies_of_kernels;
  int copies = 0;
  for (const TileKernel& k : kernels) {
    copies_of_kernels.push_back(copies_of(k.body));
    if (copies_of_kernels.back() <= kMaxCopies) copies += copies_of_kernels.back();
  }
  const int max_copies = copies <= kMaxCopiesInProgram ? kMaxCopies : 0;
  SubroutineCalls out;
  std::set<Subroutine> subroutines;
  for (size_t k = 0; k < kernels.size(); ++k) {
    out.is_caller.push_back(copies_of_kernels[k] > max_copies);
    if (out.is_caller.back()) collect(kernels[k].body, subroutines);
  }
  out.subroutines.assign(subroutines.begin(), subroutines.end());
  return out;
}

llvm::Function* new_function(llvm::Module& module, llvm::FunctionType* type, const std::string& symbol, const Target& target) {
  auto* f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  const std::string bits = std::to_string(target.register_bytes * 8);
  f->addFnAttr("prefer-vector-width", bits);
  f->addFnAttr("min-legal-vector-width", bits);
  f->addFnAttr("tune-cpu", llvm::StringRef(target.tuning));
  return f;
}

std::string Subroutine::symbol() const { return fmt::format("{}_{}_{}", name_of(op), name_of(dtype), lanes); }

llvm::Function* Subroutine::declare(llvm::Module& module, const Target& target) const {
  if (llvm::Function* f = module.getFunction(symbol())) return f;
  llvm::Type* type = register_type(module.getContext(), {dtype, lanes});
  const llvm::SmallVector<llvm::Type*, 2> operands(op == ExprOp::pow ? 2 : 1, type);
  llvm::Function* f = new_function(module, llvm::FunctionType::get(type, operands, false), symbol(), target);
  f->setDSOLocal(true);
  return f;
}

Result<void> Subroutine::define(llvm::Module& module, const Target& target) const {
  llvm::Function* f = declare(module, target);
  Builder b(llvm::BasicBlock::Create(module.getContext(), "entry", f));
  llvm::SmallVector<V, 2> operands;
  for (llvm::Argument& a : f->args()) operands.push_back({&b, &a});
  const V result = emit_operator(target, op, dtype, dtype, operands);
  if (!result.v)
    return fail(Code::not_supported, symbol(), fmt::format("not supported yet: {} of {} in generated code", name_of(op), name_of(dtype)));
  b.CreateRet(result.v);
  return {};
}

}  // namespace tenon::codegen::machine
