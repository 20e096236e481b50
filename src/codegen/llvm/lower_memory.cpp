// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/lower.h"

namespace tenon::codegen::machine {

using llvm::Align;
using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

Value* KernelLowering::address(int32_t buffer, Value* element) {
  return b_.CreateGEP(memory_type(b_.getContext(), kernel_.buffers[buffer].dtype), buffers_[buffer], element);
}

V KernelLowering::from_memory(DType dtype, V stored) { return dtype == DType::boolean ? !equal(stored, stored.splat_integer(0)) : stored; }

V KernelLowering::to_memory(DType dtype, V value) {
  if (dtype != DType::boolean) return value;
  return wrap(b_.CreateZExt(value.v, with_lanes(b_.getInt8Ty(), value.lanes())));
}

/// A vector with the address of each lane: base + offsets[lane], or base + lane * stride.
V KernelLowering::lane_addresses(const TileInstr& in, Value* base) {
  const V offsets = in.offsets != kNone ? reg(in.offsets) : iota({DType::i64, in.type.lanes}) * splat(reg(in.stride), in.type.lanes);
  return wrap(b_.CreateGEP(memory_type(b_.getContext(), in.type.element), base, offsets.v));
}

/// Whether the stride is the constant `value`.
bool KernelLowering::has_stride(const TileInstr& in, int64_t value) const {
  const auto* number = in.stride == kNone ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(reg(in.stride).v);
  return number && number->getSExtValue() == value;
}

V KernelLowering::load(const TileInstr& in) {
  const DType d = in.type.element;
  const int lanes = in.type.lanes;
  const bool broadcast = in.broadcast || (in.offsets == kNone && has_stride(in, 0));
  const bool one = broadcast || lanes == 1;
  Type* element = memory_type(b_.getContext(), d);
  const Align align(static_cast<uint64_t>(bits_of(in.words ? kernel_.buffers[in.buffer].dtype : d) / 8));
  Value* at = address(in.buffer, reg(in.args[0]).v);
  if (lanes == 1 && in.offsets != kNone) at = b_.CreateGEP(element, at, reg(in.offsets).v);
  Value* mask = in.mask == kNone ? nullptr : reg(in.mask).v;
  if (one && !mask) return splat(from_memory(d, wrap(b_.CreateAlignedLoad(element, at, align))), lanes);
  if (lanes == 1) {  // a masked scalar load: where the mask is false, it loads from a valid address
    BasicBlock *before = b_.GetInsertBlock(), *then = new_block("load"), *after = new_block("loaded");
    const V fill = in.fill != kNone ? reg(in.fill) : wrap(llvm::Constant::getNullValue(register_type(b_.getContext(), in.type)));
    b_.CreateCondBr(mask, then, after);
    b_.SetInsertPoint(then);
    const V read = from_memory(d, wrap(b_.CreateAlignedLoad(element, at, align)));
    BasicBlock* from = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    llvm::PHINode* phi = b_.CreatePHI(read.type(), 2);
    phi->addIncoming(fill.v, before);
    phi->addIncoming(read.v, from);
    return wrap(phi);
  }
  Type* vector = with_lanes(element, lanes);
  const bool spread = in.offsets != kNone || (in.stride != kNone && !has_stride(in, 1)) || broadcast;
  if (!spread && !mask) return from_memory(d, wrap(b_.CreateAlignedLoad(vector, at, align)));
  Value* fill = llvm::Constant::getNullValue(vector);
  if (in.fill != kNone) fill = to_memory(d, reg(in.fill)).v;
  if (!spread) return from_memory(d, masked_load(element, at, mask, fill));
  const V pointers = broadcast ? splat(wrap(at), lanes) : lane_addresses(in, at);
  return from_memory(d, wrap(b_.CreateMaskedGather(vector, pointers.v, align, mask, fill)));
}

/// Stores lanes of 8 or 16 bits at a constant stride one by one, since there is no scatter for them. False: not applicable.
bool KernelLowering::store_by_lane(const TileInstr& in, V value, Type* element, Value* at) {
  const auto* stride = in.stride == kNone ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(reg(in.stride).v);
  if (!stride || stride->isOne() || in.offsets != kNone || in.mask != kNone || bits_of(in.type.element) > 16) return false;
  for (int lane = 0; lane < in.type.lanes; ++lane) {
    Value* place = b_.CreateGEP(element, at, i64(lane * stride->getSExtValue()));
    b_.CreateAlignedStore(b_.CreateExtractElement(value.v, static_cast<uint64_t>(lane)), place, Align(1));
  }
  return true;
}

void KernelLowering::store(const TileInstr& in) {
  const DType d = in.type.element;
  const int lanes = in.type.lanes;
  Type* element = memory_type(b_.getContext(), d);
  const Align align(static_cast<uint64_t>(bits_of(d) / 8));
  const V value = to_memory(d, reg(in.args[0]));
  Value* at = address(in.buffer, reg(in.args[1]).v);
  Value* mask = in.mask == kNone ? nullptr : reg(in.mask).v;
  if (lanes == 1) {
    if (in.offsets != kNone) at = b_.CreateGEP(element, at, reg(in.offsets).v);
    if (!mask) {
      b_.CreateAlignedStore(value.v, at, align);
      return;
    }
    BasicBlock *then = new_block("store"), *after = new_block("stored");
    b_.CreateCondBr(mask, then, after);
    b_.SetInsertPoint(then);
    b_.CreateAlignedStore(value.v, at, align);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    return;
  }
  if (store_by_lane(in, value, element, at)) return;
  if (in.offsets != kNone || (in.stride != kNone && !has_stride(in, 1))) {
    b_.CreateMaskedScatter(value.v, lane_addresses(in, at).v, align, mask);
    return;
  }
  if (mask) {
    masked_store(value, element, at, mask);
    return;
  }
  if (in.streaming) {
    stream(value, at, lanes * bits_of(d) / 8);
    return;
  }
  b_.CreateAlignedStore(value.v, at, align);
}

/// Emits a streaming store and a plain one, and a test of the alignment that chooses: streaming stores fault where they are not aligned.
void KernelLowering::stream(V value, Value* at, int64_t bytes) {
  if (bytes < 16 || bytes > target_.register_bytes || !std::has_single_bit(static_cast<uint64_t>(bytes))) {
    b_.CreateAlignedStore(value.v, at, Align(1));
    return;
  }
  streams_ = true;
  BasicBlock *aligned = new_block("stream"), *plain = new_block("plain"), *after = new_block("stored");
  Value* low = b_.CreateAnd(b_.CreatePtrToInt(at, b_.getInt64Ty()), i64(bytes - 1));
  b_.CreateCondBr(b_.CreateICmpEQ(low, i64(0)), aligned, plain);
  b_.SetInsertPoint(aligned);
  llvm::StoreInst* store = b_.CreateAlignedStore(value.v, at, Align(static_cast<uint64_t>(bytes)));
  auto* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b_.getContext(), one));
  b_.CreateBr(after);
  b_.SetInsertPoint(plain);
  b_.CreateAlignedStore(value.v, at, Align(1));
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void KernelLowering::prefetch_at(Value* at, int locality, bool to_write) {
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                     {at, b_.getInt32(to_write ? 1 : 0), b_.getInt32(static_cast<uint32_t>(locality)), b_.getInt32(1)});
}

/// The line of a buffer that is written is fetched in exclusive state, so that another core's copy is invalidated meanwhile. (CPUs without
/// PREFETCHW take it for no operation.)
void KernelLowering::prefetch(const TileInstr& in) {
  constexpr int kIntoFirstLevel = 3;
  prefetch_at(address(in.buffer, reg(in.args[0]).v), kIntoFirstLevel, kernel_.buffers[in.buffer].written);
}

}  // namespace tenon::codegen::machine
