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

/// Functions that emit instructions of an architecture which LLVM does not select by itself. Null: there is none, and plain IR is emitted.
/// Fields of Target say which targets have one.
struct Instructions {
  /// LLVM's intrinsics for masked loads and stores of `lanes` elements, whose mask is the sign bit of each lane of a vector.
  struct MaskedParts {
    uint32_t load, store;
    int lanes;
  };
  /// Those for vectors of `lanes` such elements; nullopt: none.
  std::optional<MaskedParts> (*masked_parts)(llvm::Type* element, int lanes) = nullptr;
  /// y * 2^floor(n) in f32, exact for denormals too. 8 or 16 lanes.
  V (*scale_by_power)(V y, V n) = nullptr;
  /// Selects for each lane one of the 32 f32 in `low` and `high`, by the low five bits of `number`.
  V (*look_up)(V number, llvm::Value* low, llvm::Value* high) = nullptr;
  /// Rounds f32 to the bits of bf16, to nearest even; a register of lanes.
  V (*round_to_bf16)(V value) = nullptr;
  /// sum + a * b for groups of products (Contract::products): 4 of u8 and i8 in i32, or 2 of bf16 in f32; a register of sums. Targets whose
  /// `multiply_adds` have such groups need it.
  V (*add_products_of_group)(V sum, llvm::Value* a, llvm::Value* b) = nullptr;
};

/// What all targets of one architecture share in LLVM: one file src/codegen/llvm/architectures/NAME.cpp each.
struct Architecture {
  std::string_view name;  ///< the first part of triples: "x86_64"
  std::string_view cpu;   ///< LLVM's name of its baseline CPU, to which a target's features are added
  /// Registers LLVM's code generator. Called once, on one thread.
  void (*initialize)();
  /// Size in bytes of a PC-relative relocation of that ELF type; nullopt: such code cannot be flattened.
  std::optional<uint32_t> (*relative_bytes)(uint64_t relocation);
  uint32_t elf_machine;            ///< e_machine in its ELF objects
  uint32_t streaming_store_fence;  ///< LLVM's intrinsic that orders streaming stores before later accesses; 0: not needed
  Instructions instructions = {};
};

/// `ARCHITECTURE(x86_64) {.name = "x86_64", ...};` in src/codegen/llvm/architectures/x86_64.cpp. The folder listing is the registration.
#define ARCHITECTURE(IDENT)                                          \
  extern const ::tenon::codegen::machine::Architecture arch_##IDENT; \
  const ::tenon::codegen::machine::Architecture arch_##IDENT

std::span<const Architecture* const> all_architectures();
/// The architecture of the target's triple. Errors: not_supported, with the known ones.
Result<const Architecture*> architecture_of(const Target& target);
/// Its Instructions; all null where the architecture is unknown.
const Instructions& instructions_of(const Target& target);
/// LLVM's code generator for the target; initializes the architecture. Errors: internal where LLVM has no such target.
Result<std::unique_ptr<llvm::TargetMachine>> target_machine(const Target& target);

}  // namespace tenon::codegen::machine
