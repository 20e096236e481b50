// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "codegen/target.h"

namespace llvm {
class TargetMachine;
}

namespace tenon::codegen::machine {

/// What LLVM is given for all targets of one architecture: one file src/codegen/llvm/architectures/NAME.cpp each.
struct Architecture {
  std::string_view name;  ///< as triples begin: "x86_64"
  std::string_view cpu;   ///< LLVM's least one; a target's features are added to it
  /// Registers LLVM's code generator. Called once, on one thread.
  void (*initialize)();
  /// Bytes that a PC-relative relocation of that ELF type fills; none: code with it cannot be flattened.
  std::optional<uint32_t> (*relative_bytes)(uint64_t relocation);
  uint32_t elf_machine;       ///< e_machine of its objects
  uint32_t fence_of_streams;  ///< LLVM's intrinsic that orders streaming stores before what follows
};

/// `ARCHITECTURE(x86_64) {.name = "x86_64", ...};` in src/codegen/llvm/architectures/x86_64.cpp. The folder listing is the registration.
#define ARCHITECTURE(IDENT)                                          \
  extern const ::tenon::codegen::machine::Architecture arch_##IDENT; \
  const ::tenon::codegen::machine::Architecture arch_##IDENT

std::span<const Architecture* const> all_architectures();
/// That of the target's triple. Errors: not_supported, with those that there are.
Result<const Architecture*> architecture_of(const Target& target);
/// LLVM's code generator for the target, whose architecture is initialized. The data layout is its own. Errors: internal where LLVM has no
/// such target.
Result<std::unique_ptr<llvm::TargetMachine>> target_machine(const Target& target);

}  // namespace tenon::codegen::machine
