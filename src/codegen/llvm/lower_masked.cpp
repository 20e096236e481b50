// SPDX-License-Identifier: Apache-2.0
// Loads and stores that leave lanes out.
#include "codegen/llvm/architecture.h"
#include "codegen/llvm/lower.h"

namespace tenon::codegen::machine {

using llvm::Align;
using llvm::Type;
using llvm::Value;

namespace {

/// The target's masked loads and stores for the element type, where it has no mask registers; nullopt: LLVM accesses the lanes one by one.
std::optional<Instructions::MaskedParts> masked_parts(const Target& target, Type* element, int lanes) {
  const auto find = instructions_of(target).masked_parts;
  return target.has_mask_registers || !find ? std::nullopt : find(element, lanes);
}

}  // namespace

/// The mask as a vector of integers whose sign bits are the mask. LLVM 22 splits a masked load that is wider than a register, and where it
/// can see that the mask of one half is empty, it loads all of that half. So masks are split here, and LLVM sees plain integers.
V KernelLowering::signs(Value* mask, Type* element) {
  const int lanes = wrap(mask).lanes();
  return wrap(b_.CreateSExt(mask, with_lanes(b_.getIntNTy(static_cast<unsigned>(element->getPrimitiveSizeInBits())), lanes)));
}

V KernelLowering::masked_load(Type* element, Value* at, Value* mask, Value* fill) {
  const int lanes = wrap(mask).lanes();
  Type* vector = with_lanes(element, lanes);
  const auto parts = masked_parts(target_, element, lanes);
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

void KernelLowering::masked_store(V value, Type* element, Value* at, Value* mask) {
  const int lanes = value.lanes();
  const auto parts = masked_parts(target_, element, lanes);
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
