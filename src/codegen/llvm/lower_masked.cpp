// SPDX-License-Identifier: Apache-2.0
// Loads and stores that leave lanes out.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/lower.h"

namespace tenon::codegen::machine {

using llvm::Align;
using llvm::Type;
using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

struct ByPart {
  ID load, store;
  int lanes;  ///< of a part
};

/// The instructions that go by the signs of a vector of masks; none for elements of 8 and 16 bits, which LLVM takes one by one.
std::optional<ByPart> by_part(Type* element, int lanes) {
  const bool whole = lanes * static_cast<int>(element->getPrimitiveSizeInBits()) % 256 == 0;
  if (element->isFloatTy() && whole) return ByPart{llvm::Intrinsic::x86_avx_maskload_ps_256, llvm::Intrinsic::x86_avx_maskstore_ps_256, 8};
  if (element->isDoubleTy() && whole) return ByPart{llvm::Intrinsic::x86_avx_maskload_pd_256, llvm::Intrinsic::x86_avx_maskstore_pd_256, 4};
  if (element->isIntegerTy(32) && whole)
    return ByPart{llvm::Intrinsic::x86_avx2_maskload_d_256, llvm::Intrinsic::x86_avx2_maskstore_d_256, 8};
  if (element->isIntegerTy(64) && whole)
    return ByPart{llvm::Intrinsic::x86_avx2_maskload_q_256, llvm::Intrinsic::x86_avx2_maskstore_q_256, 4};
  return std::nullopt;
}

}  // namespace

/// The mask as signs. LLVM 22 splits a masked load that is wider than a register, and where one half's mask turns out to be none of it,
/// that half is loaded whole: masks are split here, and as signs they are plain numbers to LLVM.
V Lower::signs(Value* mask, Type* element) {
  const int lanes = wrap(mask).lanes();
  return wrap(b_.CreateSExt(mask, with_lanes(b_.getIntNTy(static_cast<unsigned>(element->getPrimitiveSizeInBits())), lanes)));
}

V Lower::masked_load(Type* element, Value* at, Value* mask, Value* fill) {
  const int lanes = wrap(mask).lanes();
  Type* vector = with_lanes(element, lanes);
  const auto parts = target_.mask_registers ? std::nullopt : by_part(element, lanes);
  if (!parts) return wrap(b_.CreateMaskedLoad(vector, at, Align(element->getPrimitiveSizeInBits() / 8), mask, fill));
  const V all = signs(mask, element);
  std::vector<V> read;
  for (int from = 0; from < lanes; from += parts->lanes) {
    Value* place = b_.CreateConstGEP1_64(element, at, static_cast<uint64_t>(from));
    const V some = parts->lanes == lanes ? all : slice(all, from, parts->lanes);
    read.push_back(wrap(b_.CreateIntrinsic(parts->load, {}, {place, some.v})));
  }
  for (; read.size() > 1; read.resize(read.size() / 2))
    for (size_t k = 0; k < read.size() / 2; ++k) read[k] = concat(read[2 * k], read[2 * k + 1]);
  const auto* constant = llvm::dyn_cast<llvm::Constant>(fill);
  return constant && constant->isNullValue() ? read[0] : wrap(b_.CreateSelect(mask, read[0].v, fill));
}

void Lower::masked_store(V value, Type* element, Value* at, Value* mask) {
  const int lanes = value.lanes();
  const auto parts = target_.mask_registers ? std::nullopt : by_part(element, lanes);
  if (!parts) {
    b_.CreateMaskedStore(value.v, at, Align(element->getPrimitiveSizeInBits() / 8), mask);
    return;
  }
  const V all = signs(mask, element);
  for (int from = 0; from < lanes; from += parts->lanes) {
    const bool whole = parts->lanes == lanes;
    Value* place = b_.CreateConstGEP1_64(element, at, static_cast<uint64_t>(from));
    b_.CreateIntrinsic(parts->store, {},
                       {place, whole ? all.v : slice(all, from, parts->lanes).v, whole ? value.v : slice(value, from, parts->lanes).v});
  }
}

}  // namespace tenon::codegen::machine
