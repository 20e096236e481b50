// SPDX-License-Identifier: Apache-2.0
// Relocations: System V ABI, AMD64 supplement, table 4.9.
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/TargetSelect.h>

#include "codegen/llvm/architecture.h"

namespace tenon::codegen::machine {

namespace {

void initialize() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}

std::optional<uint32_t> relative_bytes(uint64_t relocation) {
  switch (relocation) {
    case llvm::ELF::R_X86_64_PC32:
    case llvm::ELF::R_X86_64_PLT32: return 4;
    case llvm::ELF::R_X86_64_PC64: return 8;
    default: return {};
  }
}

}  // namespace

ARCHITECTURE(x86_64){
    .name = "x86_64",
    .cpu = "x86-64",
    .initialize = initialize,
    .relative_bytes = relative_bytes,
    .elf_machine = llvm::ELF::EM_X86_64,
    .fence_of_streams = llvm::Intrinsic::x86_sse_sfence,
};

}  // namespace tenon::codegen::machine
