// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/Module.h>

#include "codegen/llvm/subroutines.h"
#include "codegen/llvm/vector.h"

namespace tenon::codegen::machine {

/// Lowers one verified kernel to a function of an LLVM module, instruction by instruction; vectors stay as wide as the tile IR says.
class KernelLowering {
 public:
  /// calls_functions: transcendental functions become calls of subroutines, which the module declares; false: they are inlined.
  KernelLowering(const TileKernel& kernel, const Target& target, llvm::Module& module, bool calls_functions);
  /// Errors: not_supported (a float function without an emission for its dtype).
  Result<void> run(const std::string& symbol);

 private:
  void bind_buffers(llvm::Value* arguments, llvm::Value* scratch);
  Result<void> block(const TileBlock& instructions);
  Result<void> instruction(const TileInstr& in);
  Result<V> value(const TileInstr& in);
  Result<V> expression(const TileInstr& in);
  Result<V> dot(const TileInstr& in);
  V pair(V low, V high);
  V call(const Subroutine& subroutine, llvm::ArrayRef<V> args);
  V constant(const TileInstr& in);
  V iota(TileType type);
  V first_mask(V count, int lanes);
  V splat(V scalar, int lanes);
  V reduce(const TileInstr& in);

  // memory (lower_memory.cpp, lower_masked.cpp)
  llvm::Value* address(int32_t buffer, llvm::Value* element);
  bool has_stride(const TileInstr& in, int64_t value) const;
  V lane_addresses(const TileInstr& in, llvm::Value* base);
  V load(const TileInstr& in);
  bool store_by_lane(const TileInstr& in, V value, llvm::Type* element, llvm::Value* at);
  void store(const TileInstr& in);
  V masked_load(llvm::Type* element, llvm::Value* at, llvm::Value* mask, llvm::Value* fill);
  void masked_store(V value, llvm::Type* element, llvm::Value* at, llvm::Value* mask);
  V signs(llvm::Value* mask, llvm::Type* element);
  void stream(V value, llvm::Value* at, int64_t bytes);
  void prefetch(const TileInstr& in);
  void prefetch_at(llvm::Value* at, int locality = 3, bool to_write = false);
  V from_memory(DType dtype, V stored);
  V to_memory(DType dtype, V value);

  Result<void> loop(const TileInstr& in);
  Result<void> loop_part(const TileInstr& in, llvm::Value* to, int times, std::vector<V>& state);
  Result<void> branch(const TileInstr& in);

  void transpose(const TileInstr& in);  // lower_transpose.cpp

  // the contraction (lower_contract.cpp)
  struct Panel;
  Result<void> contract(const Contract& c);
  Result<void> check_group(const Contract& c) const;
  std::vector<V> contract_loop(const Contract& c, Panel& panel, llvm::Value* depth, int steps, std::vector<V> acc);
  llvm::Value* opaque(llvm::Value* pointer);
  void contract_step(const Contract& c, Panel& panel, int step, std::span<V> acc);
  V contract_operand(const Contract& c, int32_t buffer, llvm::Value* at, int lanes, llvm::Value* mask);
  V multiply_add(const Contract& c, V a, V b, V sum);

  V reg(Reg r) const { return registers_[r]; }
  llvm::Value* scalar_or(Reg r, int64_t otherwise);
  llvm::BasicBlock* new_block(const char* name);
  llvm::Value* i64(int64_t v) { return b_.getInt64(static_cast<uint64_t>(v)); }
  V wrap(llvm::Value* v) { return {&b_, v}; }

  const TileKernel& kernel_;
  const Target& target_;
  llvm::Module& module_;
  Builder b_;
  llvm::Function* function_ = nullptr;
  llvm::Value *sizes_ = nullptr, *begin_ = nullptr, *end_ = nullptr;
  std::vector<llvm::Value*> buffers_;
  std::vector<V> registers_;
  bool streams_ = false;
  const bool calls_functions_;
};

}  // namespace tenon::codegen::machine
