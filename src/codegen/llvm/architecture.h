// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "codegen/llvm/vector.h"
#include "codegen/target.h"

namespace llvm {
class TargetMachine;
}

namespace tenon::codegen::machine {

/// Instructions of an architecture that LLVM does not choose by itself. Null: there is none, and plain IR is emitted. Which of its targets
/// have one, the fields of Target say.
struct Instructions {
  /// Loads and stores of so many lanes at a time, by the signs of a vector of masks; intrinsics of LLVM.
  struct MaskedParts {
    uint32_t load, store;
    int lanes;
  };
  /// Nullopt where elements of that type, so many, have no such instructions.
  std::optional<MaskedParts> (*masked_parts)(llvm::Type* element, int lanes) = nullptr;
  /// y 2^floor(n) of f32, right to the denormals. 8 or 16 lanes.
  V (*scaled_by_power)(V y, V n) = nullptr;
  /// Of two vectors of 16 f32, the element that the low five bits of each lane name.
  V (*looked_up)(V number, llvm::Value* low, llvm::Value* high) = nullptr;
  /// f32 to the bits of bf16, to nearest even; a register of lanes.
  V (*rounded_to_bf16)(V value) = nullptr;
  /// sum + the sums of groups of products: 4 of u8 and i8 in i32, or 2 of bf16 in f32; a register of sums. Targets whose
  /// `multiply_adds` have such groups need it.
  V (*summed_products)(V sum, llvm::Value* a, llvm::Value* b) = nullptr;
};

/// What LLVM is given for all targets of one architecture: one file src/codegen/llvm/architectures/NAME.cpp each.
struct Architecture {
  std::string_view name;  ///< as triples begin: "x86_64"
  std::string_view cpu;   ///< LLVM's least one; a target's features are added to it
  /// Registers LLVM's code generator. Called once, on one thread.
  void (*initialize)();
  /// Bytes that a PC-relative relocation of that ELF type fills; none: code with it cannot be flattened.
  std::optional<uint32_t> (*relative_bytes)(uint64_t relocation);
  uint32_t elf_machine;       ///< e_machine of its objects
  uint32_t fence_of_streams;  ///< LLVM's intrinsic that orders streaming stores before what follows; 0: none is needed
  Instructions instructions = {};
};

/// `ARCHITECTURE(x86_64) {.name = "x86_64", ...};` in src/codegen/llvm/architectures/x86_64.cpp. The folder listing is the registration.
#define ARCHITECTURE(IDENT)                                          \
  extern const ::tenon::codegen::machine::Architecture arch_##IDENT; \
  const ::tenon::codegen::machine::Architecture arch_##IDENT

std::span<const Architecture* const> all_architectures();
/// That of the target's triple. Errors: not_supported, with those that there are.
Result<const Architecture*> architecture_of(const Target& target);
/// Its instructions; none where there is no such architecture.
const Instructions& instructions_of(const Target& target);
/// LLVM's code generator for the target, whose architecture is initialized. The data layout is its own. Errors: internal where LLVM has no
/// such target.
Result<std::unique_ptr<llvm::TargetMachine>> target_machine(const Target& target);

}  // namespace tenon::codegen::machine
