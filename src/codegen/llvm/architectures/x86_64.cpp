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

// --- instructions: Intel SDM, volume 2

/// Of elements of 8 and 16 bits there are none before AVX-512.
std::optional<Instructions::MaskedParts> masked_parts(llvm::Type* element, int lanes) {
  using namespace llvm::Intrinsic;
  if (lanes * static_cast<int>(element->getPrimitiveSizeInBits()) % 256 != 0) return std::nullopt;
  if (element->isFloatTy()) return Instructions::MaskedParts{x86_avx_maskload_ps_256, x86_avx_maskstore_ps_256, 8};
  if (element->isDoubleTy()) return Instructions::MaskedParts{x86_avx_maskload_pd_256, x86_avx_maskstore_pd_256, 4};
  if (element->isIntegerTy(32)) return Instructions::MaskedParts{x86_avx2_maskload_d_256, x86_avx2_maskstore_d_256, 8};
  if (element->isIntegerTy(64)) return Instructions::MaskedParts{x86_avx2_maskload_q_256, x86_avx2_maskstore_q_256, 4};
  return std::nullopt;
}

V scale_by_power(V y, V n) {
  Builder& b = *y.b;
  if (y.lanes() == 8)
    return y.with(b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_256, {}, {y.v, n.v, y.v, b.getInt8(0xff)}));
  return y.with(b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {}, {y.v, n.v, y.v, b.getInt16(0xffff), b.getInt32(4)}));
}

V look_up(V number, llvm::Value* low, llvm::Value* high) {
  return number.with(number.b->CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_ps_512, {}, {low, number.v, high}));
}

V round_to_bf16(V value) {
  Builder& b = *value.b;
  llvm::Type* const bits = with_lanes(b.getInt16Ty(), value.lanes());
  return value.with(b.CreateBitCast(b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {value.v}), bits));
}

V add_products_of_group(V sum, llvm::Value* a, llvm::Value* b) {
  const auto instruction = sum.real() ? llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512 : llvm::Intrinsic::x86_avx512_vpdpbusd_512;
  return sum.with(sum.b->CreateIntrinsic(instruction, {}, {sum.v, a, b}));
}

}  // namespace

ARCHITECTURE(x86_64){
    .name = "x86_64",
    .cpu = "x86-64",
    .initialize = initialize,
    .relative_bytes = relative_bytes,
    .elf_machine = llvm::ELF::EM_X86_64,
    .streaming_store_fence = llvm::Intrinsic::x86_sse_sfence,
    .instructions = {.masked_parts = masked_parts,
                     .scale_by_power = scale_by_power,
                     .look_up = look_up,
                     .round_to_bf16 = round_to_bf16,
                     .add_products_of_group = add_products_of_group},
};

}  // namespace tenon::codegen::machine
