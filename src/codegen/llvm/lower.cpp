// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/lower.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include "base/checked.h"
#include "base/kernel_arguments.h"
#include "codegen/llvm/architecture.h"
#include "codegen/tile/scalar.h"

namespace tenon::codegen::machine {

using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

KernelLowering::KernelLowering(const TileKernel& kernel, const Target& target, llvm::Module& module, bool calls_functions)
    : kernel_(kernel),
      target_(target),
      module_(module),
      b_(module.getContext()),
      registers_(kernel.registers.size()),
      calls_functions_(calls_functions) {}

BasicBlock* KernelLowering::new_block(const char* name) { return BasicBlock::Create(b_.getContext(), name, function_); }

Value* KernelLowering::scalar_or(Reg r, int64_t otherwise) { return r == kNone ? i64(otherwise) : registers_[r].v; }

void KernelLowering::bind_buffers(Value* arguments, Value* scratch) {
  int64_t used = 0;
  for (const Buffer& buffer : kernel_.buffers) {
    if (buffer.kind == Buffer::Kind::argument) {
      buffers_.push_back(b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), arguments, buffer.argument)));
      continue;
    }
    buffers_.push_back(b_.CreateConstGEP1_64(b_.getInt8Ty(), scratch, used));
    used += round_up(bytes_of(buffer.dtype, buffer.scratch_count), 64);
  }
}

Result<void> KernelLowering::run(const std::string& symbol) {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty()}, false);
  function_ = new_function(module_, type, symbol, target_);
  b_.SetInsertPoint(new_block("entry"));
  Value* args = function_->getArg(0);
  begin_ = function_->getArg(1);
  end_ = function_->getArg(2);
  auto field = [&](int64_t offset) { return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getInt8Ty(), args, offset)); };
  Value *list = field(kernel_arguments::buffers), *scratch = field(kernel_arguments::scratch);
  sizes_ = field(kernel_arguments::sizes);
  bind_buffers(list, scratch);
  TRY(block(kernel_.body));
  if (const uint32_t fence = TRY(architecture_of(target_))->streaming_store_fence; streams_ && fence != 0)
    b_.CreateIntrinsic(b_.getVoidTy(), fence, {});
  b_.CreateRetVoid();
  return {};
}

Result<void> KernelLowering::block(const TileBlock& instructions) {
  for (const TileInstr& in : instructions) TRY(instruction(in));
  return {};
}

Result<void> KernelLowering::instruction(const TileInstr& in) {
  switch (in.op) {
    case TileOp::store: store(in); return {};
    case TileOp::prefetch: prefetch(in); return {};
    case TileOp::loop: return loop(in);
    case TileOp::branch: return branch(in);
    case TileOp::contract: return contract(in.contract);
    case TileOp::transpose: transpose(in); return {};
    default: registers_[in.result] = TRY(value(in)); return {};
  }
}

Result<V> KernelLowering::value(const TileInstr& in) {
  switch (in.op) {
    case TileOp::constant: return constant(in);
    case TileOp::size: return wrap(b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), sizes_, in.index)));
    case TileOp::task_begin: return wrap(begin_);
    case TileOp::task_end: return wrap(end_);
    case TileOp::lanes_iota: return iota(in.type);
    case TileOp::splat: return splat(reg(in.args[0]), in.type.lanes);
    case TileOp::first_mask: return first_mask(reg(in.args[0]), in.type.lanes);
    case TileOp::load: return load(in);
    case TileOp::reduce: return reduce(in);
    case TileOp::fma: {
      const DType d = in.type.element;
      const V x = reg(in.args[0]), y = reg(in.args[1]), z = reg(in.args[2]);
      if (!is_arithmetic_float(d)) return x * y + z;
      if (d == DType::f32 || d == DType::f64) return fma(x, y, z);
      return round_half(d, fma(widen_half(d, x), widen_half(d, y), widen_half(d, z)));
    }
    case TileOp::dot: return dot(in);
    case TileOp::pair: return pair(reg(in.args[0]), reg(in.args[1]));
    default: return expression(in);
  }
}

Result<V> KernelLowering::dot(const TileInstr& in) {
  const bool bytes = in.type.element == DType::i32;
  const MultiplyAdd* const instruction =
      bytes ? target_.multiply_add(DType::u8, DType::i8, DType::i32) : target_.multiply_add(DType::bf16, DType::bf16, DType::f32);
  if (!instruction || instruction->lanes != in.type.lanes || !instructions_of(target_).add_products_of_group)
    return fail(Code::internal, kernel_.name, "no instruction of the target adds products of these groups")
        .found(std::string(target_.name));
  llvm::Type* group = with_lanes(bytes ? b_.getInt8Ty() : b_.getBFloatTy(), in.type.lanes * instruction->products);
  return instructions_of(target_).add_products_of_group(reg(in.args[2]), b_.CreateBitCast(reg(in.args[0]).v, group),
                                                        b_.CreateBitCast(reg(in.args[1]).v, group));
}

V KernelLowering::pair(V low, V high) {
  const auto bits = [&](V of) { return emit_operator(target_, ExprOp::cast, DType::f32, DType::bf16, {of}).v; };
  llvm::SmallVector<int, 64> order;
  for (int lane = 0; lane < low.lanes(); ++lane) order.append({lane, low.lanes() + lane});
  Value* joined = b_.CreateShuffleVector(bits(low), bits(high), order);
  return wrap(b_.CreateBitCast(joined, with_lanes(b_.getInt32Ty(), low.lanes())));
}

V KernelLowering::call(const Subroutine& subroutine, llvm::ArrayRef<V> args) {
  llvm::SmallVector<Value*, 2> actual;
  for (V a : args) actual.push_back(a.v);
  return wrap(b_.CreateCall(subroutine.declare(module_, target_), actual));
}

Result<V> KernelLowering::expression(const TileInstr& in) {
  llvm::SmallVector<V, 3> args;
  for (Reg r : in.args) args.push_back(reg(r));
  const DType operand = kernel_.registers[in.args.back()].element;
  const auto subroutine = calls_functions_ ? subroutine_of(in) : std::nullopt;
  const V v = subroutine ? call(*subroutine, args) : emit_operator(target_, in.expr_op, operand, in.type.element, args);
  if (!v.v)
    return fail(Code::not_supported, kernel_.name,
                fmt::format("not supported yet: {} of {} in generated code", name_of(in.expr_op), name_of(operand)));
  return v;
}

V KernelLowering::constant(const TileInstr& in) {
  Type* type = register_type(b_.getContext(), in.type);
  if (type->isFPOrFPVectorTy()) return wrap(llvm::ConstantFP::get(type, in.number));
  const DType d = in.type.element;
  const uint64_t bits = is_float(d) ? encode_float(d, in.number, false) : static_cast<uint64_t>(in.integer);
  const uint64_t value = d == DType::boolean ? in.integer != 0 : bits;
  return wrap(llvm::ConstantInt::get(type, llvm::APInt(type->getScalarSizeInBits(), value, false, true)));
}

V KernelLowering::iota(TileType t) {
  llvm::SmallVector<llvm::Constant*, 64> lanes;
  Type* element = element_type(b_.getContext(), t.element);
  for (int i = 0; i < t.lanes; ++i) {
    if (element->isFloatingPointTy()) lanes.push_back(llvm::ConstantFP::get(element, i));
    else if (is_arithmetic_float(t.element)) lanes.push_back(llvm::ConstantInt::get(element, encode_float(t.element, i, false)));
    else lanes.push_back(llvm::ConstantInt::get(element, t.element == DType::boolean ? i != 0 : i));
  }
  return wrap(t.lanes == 1 ? static_cast<Value*>(lanes[0]) : llvm::ConstantVector::get(lanes));
}

V KernelLowering::first_mask(V count, int lanes) {
  const V zero = count.splat_integer(0), most = count.splat_integer(lanes);
  const V low = select(less(count, zero), zero, count);
  const V clamped = select(less(most, low), most, low);
  const V narrow = wrap(b_.CreateTrunc(clamped.v, b_.getInt32Ty()));
  return less(iota({DType::i32, lanes}), splat(narrow, lanes));
}

V KernelLowering::splat(V scalar, int lanes) { return lanes == 1 ? scalar : wrap(b_.CreateVectorSplat(lanes, scalar.v)); }

V KernelLowering::reduce(const TileInstr& in) {
  V v = reg(in.args[0]);
  for (int half = v.lanes() / 2; half > 0; half /= 2)
    v = emit_combine(target_, in.combine, in.type.element, slice(v, 0, half), slice(v, half, half));
  return v;
}

/// Rotated: the test is at the end, so that an iteration costs one branch. Each copy of an unrolled body sees its own induction value.
Result<void> KernelLowering::loop_part(const TileInstr& in, Value* to, int times, std::vector<V>& state) {
  BasicBlock *before = b_.GetInsertBlock(), *body = new_block("loop"), *after = new_block("after");
  Value *from = state[0].v, *step = reg(in.args[2]).v;
  b_.CreateCondBr(b_.CreateICmpSLT(from, to), body, after);
  b_.SetInsertPoint(body);
  std::vector<llvm::PHINode*> phis;
  std::vector<V> now;
  for (const V& v : state) {
    phis.push_back(b_.CreatePHI(v.type(), 2));
    phis.back()->addIncoming(v.v, before);
    now.push_back(wrap(phis.back()));
  }
  for (int copy = 0; copy < times; ++copy) {
    registers_[in.induction] = now[0];
    for (size_t i = 0; i < in.carried.size(); ++i) registers_[in.carried[i]] = now[i + 1];
    TRY(block(in.body));
    now[0] = wrap(b_.CreateNSWAdd(now[0].v, step));
    for (size_t i = 0; i < in.yields.size(); ++i) now[i + 1] = reg(in.yields[i]);
  }
  BasicBlock* latch = b_.GetInsertBlock();
  for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(now[i].v, latch);
  b_.CreateCondBr(b_.CreateICmpSLT(now[0].v, to), body, after);
  b_.SetInsertPoint(after);
  for (size_t i = 0; i < state.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(state[i].type(), 2);
    phi->addIncoming(state[i].v, before);
    phi->addIncoming(now[i].v, latch);
    state[i] = wrap(phi);
  }
  return {};
}

Result<void> KernelLowering::loop(const TileInstr& in) {
  Value *to = reg(in.args[1]).v, *step = reg(in.args[2]).v;
  std::vector<V> state{reg(in.args[0])};
  for (Reg r : in.carried_in) state.push_back(reg(r));
  if (in.unroll > 1) TRY(loop_part(in, b_.CreateSub(to, b_.CreateMul(step, i64(in.unroll - 1))), in.unroll, state));
  TRY(loop_part(in, to, 1, state));
  for (size_t i = 0; i < in.results.size(); ++i) registers_[in.results[i]] = state[i + 1];
  return {};
}

Result<void> KernelLowering::branch(const TileInstr& in) {
  BasicBlock *then = new_block("then"), *otherwise = new_block("else"), *after = new_block("join");
  b_.CreateCondBr(reg(in.args[0]).v, then, otherwise);
  auto side = [&](BasicBlock* at, const TileBlock& body) -> Result<BasicBlock*> {
    b_.SetInsertPoint(at);
    TRY(block(body));
    BasicBlock* last = b_.GetInsertBlock();
    b_.CreateBr(after);
    return last;
  };
  BasicBlock* then_end = TRY(side(then, in.body));
  BasicBlock* otherwise_end = TRY(side(otherwise, in.otherwise));
  b_.SetInsertPoint(after);
  for (size_t i = 0; i < in.results.size(); ++i) {
    const V a = reg(in.yields[i]), b = reg(in.otherwise_yields[i]);
    llvm::PHINode* phi = b_.CreatePHI(a.type(), 2);
    phi->addIncoming(a.v, then_end);
    phi->addIncoming(b.v, otherwise_end);
    registers_[in.results[i]] = wrap(phi);
  }
  return {};
}

}  // namespace tenon::codegen::machine
