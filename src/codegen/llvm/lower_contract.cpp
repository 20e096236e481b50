// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/InlineAsm.h>

#include "codegen/llvm/architecture.h"
#include "codegen/llvm/lower.h"

namespace tenon::codegen::machine {

using llvm::BasicBlock;
using llvm::Value;

namespace {

constexpr int kCacheLine = 64;
/// Locality of llvm.prefetch for the second-level cache (3: first level).
constexpr int kSecondLevelLocality = 2;

}  // namespace

/// Addresses of the operands of the next steps. Rows of A are addressed from few moving base pointers, each with two neighbours at one and
/// two strides, so that x86 addressing ([base + stride], [base + 2*stride]) reaches them without a register for every row. Neighbours are
/// rows of one line, or rows at one position in several lines, whichever needs fewer base pointers.
struct KernelLowering::Panel {
  static constexpr int kRowsPerBase = 3;
  struct Row {
    int base, neighbour;
  };

  int line = 1, lines = 1;       ///< rows of a line, and number of lines
  bool is_across_lines = false;  ///< neighbours are rows of several lines; false: of one line
  std::vector<Value*> a;         ///< base pointers
  Value *b = nullptr, *prefetch_pointer = nullptr, *scale = nullptr;
  Value *stride, *a_step, *b_step, *scale_step = nullptr;  ///< bytes; the stride between neighbours
  int64_t a_bytes = 4, b_bytes = 4;                        ///< of an element

  explicit Panel(const Contract& c) : line(c.rows_per_line > 0 ? c.rows_per_line : c.rows), lines(c.rows / line) {
    is_across_lines = line * bases_of(lines) < lines * bases_of(line);
  }
  static int bases_of(int rows) { return (rows + kRowsPerBase - 1) / kRowsPerBase; }
  Row of(int row) const {
    const int in_line = row % line, number = row / line, position = is_across_lines ? number : in_line,
              group = is_across_lines ? in_line : number;
    return {group * bases_of(is_across_lines ? lines : line) + position / kRowsPerBase, position % kRowsPerBase};
  }
};

/// Emits the loop over K with the accumulators: iterations of several steps, then the remaining steps one by one.
Result<void> KernelLowering::contract(const Contract& c) {
  TRY(check_group(c));
  Panel p(c);
  p.a_bytes = bits_of(kernel_.buffers[c.a].dtype) / 8;
  p.b_bytes = bits_of(kernel_.buffers[c.b].dtype) / 8;
  Value* row_bytes = b_.CreateMul(scalar_or(c.a_row_stride, 0), i64(p.a_bytes));
  Value* line_bytes = c.rows_per_line > 0 ? b_.CreateMul(scalar_or(c.a_line_stride, 0), i64(p.a_bytes)) : i64(0);
  p.stride = p.is_across_lines ? line_bytes : row_bytes;
  p.a_step = b_.CreateMul(scalar_or(c.a_k_stride, c.products), i64(p.a_bytes));
  p.b_step = b_.CreateMul(scalar_or(c.b_k_stride, int64_t{c.vectors} * c.lanes * c.products), i64(p.b_bytes));
  p.b = address(c.b, scalar_or(c.b_offset, 0));
  if (c.prefetch_from != kNone) p.prefetch_pointer = address(c.b, reg(c.prefetch_from).v);
  if (c.scale >= 0) {
    p.scale = address(c.scale, scalar_or(c.scale_offset, 0));
    p.scale_step = b_.CreateMul(scalar_or(c.scale_k_stride, 1), i64(bits_of(c.accumulator) / 8));
  }
  Value* a = address(c.a, scalar_or(c.a_offset, 0));
  for (int r = 0; r < c.rows; ++r) {
    const auto [base, neighbour] = p.of(r);
    if (neighbour > 0) continue;
    p.a.resize(std::max<size_t>(p.a.size(), base + 1));
    Value* at = b_.CreateMul(row_bytes, i64(r % p.line));
    if (r >= p.line) at = b_.CreateAdd(at, b_.CreateMul(line_bytes, i64(r / p.line)));
    p.a[base] = b_.CreateGEP(b_.getInt8Ty(), a, at);
  }
  std::vector<V> acc;
  llvm::Type* type = register_type(b_.getContext(), {c.accumulator, c.lanes});
  for (Reg r : c.accumulators_in) acc.push_back(r == kNone ? wrap(llvm::Constant::getNullValue(type)) : reg(r));
  const int unroll = c.rows * c.vectors >= 16 ? 2 : kStepsPerTrip;  // two steps of a large tile hide the loop's own instructions
  Value* depth = reg(c.depth).v;
  Value* rest = b_.CreateAnd(depth, i64(unroll - 1));
  const size_t sums = acc.size();
  for (size_t k = sums; k < sums * static_cast<size_t>(chain_count(c)); ++k) acc.push_back(wrap(llvm::Constant::getNullValue(type)));
  acc = contract_loop(c, p, b_.CreateSub(depth, rest), unroll, std::move(acc));
  for (; acc.size() > sums; acc.resize(acc.size() / 2))
    for (size_t k = 0; k < acc.size() / 2; ++k) acc[k] = acc[k] + acc[acc.size() / 2 + k];
  acc = contract_loop(c, p, rest, 1, std::move(acc));
  for (size_t i = 0; i < acc.size(); ++i) registers_[c.accumulators_out[i]] = acc[i];
  return {};
}

/// The same pointer, opaque to the code generator: else it finds that all rows derive from one pointer and computes the others
/// by a chain of additions in the loop, which costs registers and, through the scheduler, spills (14x2: 69 % of peak instead of 99).
Value* KernelLowering::opaque(Value* pointer) {
  auto* type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy()}, false);
  return b_.CreateCall(llvm::InlineAsm::get(type, "", "=r,0", false), {pointer});
}

std::vector<V> KernelLowering::contract_loop(const Contract& c, Panel& p, Value* depth, int steps, std::vector<V> acc) {
  BasicBlock *before = b_.GetInsertBlock(), *body = new_block("contract"), *after = new_block("contracted");
  std::vector<Value*> state{depth, p.b};
  state.insert(state.end(), p.a.begin(), p.a.end());
  for (const V& v : acc) state.push_back(v.v);
  // The pointers for prefetch and scale, where there are any, come last.
  Value** const optional_pointers[] = {&p.prefetch_pointer, &p.scale};
  for (Value** pointer : optional_pointers)
    if (*pointer) state.push_back(*pointer);
  const auto set_optional_pointers = [&](const auto& from) {
    size_t at = 2 + p.a.size() + acc.size();
    for (Value** pointer : optional_pointers)
      if (*pointer) *pointer = from[at++];
  };
  b_.CreateCondBr(b_.CreateICmpSGT(depth, i64(0)), body, after);
  b_.SetInsertPoint(body);
  std::vector<llvm::PHINode*> phis;
  for (Value* v : state) {
    phis.push_back(b_.CreatePHI(v->getType(), 2));
    phis.back()->addIncoming(v, before);
  }
  p.b = phis[1];
  for (size_t i = 0; i < p.a.size(); ++i) p.a[i] = opaque(phis[2 + i]);
  for (size_t i = 0; i < acc.size(); ++i) acc[i].v = phis[2 + p.a.size() + i];
  set_optional_pointers(phis);
  const size_t sums = static_cast<size_t>(c.rows) * c.vectors;
  for (int s = 0; s < steps; ++s) contract_step(c, p, s, std::span(acc).subspan(static_cast<size_t>(s) * sums % acc.size(), sums));
  auto advance = [&](Value* pointer, Value* step) { return b_.CreateGEP(b_.getInt8Ty(), pointer, b_.CreateMul(step, i64(steps))); };
  std::vector<Value*> next{b_.CreateSub(phis[0], i64(steps)), advance(p.b, p.b_step)};
  for (Value* a : p.a) next.push_back(advance(a, p.a_step));
  for (const V& v : acc) next.push_back(v.v);
  if (p.prefetch_pointer)
    next.push_back(b_.CreateConstGEP1_64(b_.getInt8Ty(), p.prefetch_pointer,
                                         kCacheLine * ((steps + Contract::kStepsPerPrefetch - 1) / Contract::kStepsPerPrefetch)));
  if (p.scale) next.push_back(advance(p.scale, p.scale_step));
  for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(next[i], body);
  b_.CreateCondBr(b_.CreateICmpSGT(next[0], i64(0)), body, after);
  b_.SetInsertPoint(after);
  for (size_t i = 0; i < state.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(state[i]->getType(), 2);
    phi->addIncoming(state[i], before);
    phi->addIncoming(next[i], body);
    state[i] = phi;
  }
  p.b = state[1];
  for (size_t i = 0; i < p.a.size(); ++i) p.a[i] = state[2 + i];
  for (size_t i = 0; i < acc.size(); ++i) acc[i].v = state[2 + p.a.size() + i];
  set_optional_pointers(state);
  return acc;
}

/// Loads an operand: one element for each lane, cast to the accumulator's type; with groups, the bits of each lane's group as one integer.
V KernelLowering::contract_operand(const Contract& c, int32_t buffer, Value* at, int lanes, Value* mask) {
  const DType d = kernel_.buffers[buffer].dtype;
  llvm::Type* element = memory_type(b_.getContext(), d);
  if (c.products > 1) element = b_.getIntNTy(static_cast<unsigned>(bits_of(d) * c.products));
  const llvm::Align align(static_cast<uint64_t>(bits_of(d) / 8));
  Value* raw = nullptr;
  llvm::Type* type = with_lanes(element, lanes);
  if (mask) raw = masked_load(element, at, mask, llvm::Constant::getNullValue(type)).v;
  else raw = b_.CreateAlignedLoad(type, at, align);
  return c.products > 1 ? wrap(raw) : emit_cast(from_memory(d, wrap(raw)), d, c.accumulator);
}

V KernelLowering::multiply_add(const Contract& c, V a, V b, V sum) {
  if (c.products == 1) return sum.real() ? fma(a, b, sum) : a * b + sum;
  const bool bytes = c.accumulator == DType::i32;
  llvm::Type* group = with_lanes(bytes ? b_.getInt8Ty() : b_.getBFloatTy(), c.lanes * c.products);
  return instructions_of(target_).add_products_of_group(sum, b_.CreateBitCast(a.v, group), b_.CreateBitCast(b.v, group));
}

/// Checks that the target has the instruction for groups of more than one product.
Result<void> KernelLowering::check_group(const Contract& c) const {
  if (c.products == 1) return {};
  const DType a = kernel_.buffers[c.a].dtype, b = kernel_.buffers[c.b].dtype;
  const MultiplyAdd* instruction = target_.multiply_add(a, b, c.accumulator);
  if (instruction && instruction->products == c.products && instruction->lanes == c.lanes && instructions_of(target_).add_products_of_group)
    return {};
  return fail(Code::internal, kernel_.name, "no instruction of the target multiplies these groups")
      .found(std::string(target_.name) + ": " + std::string(name_of(a)) + " x " + std::string(name_of(b)));
}

void KernelLowering::contract_step(const Contract& c, Panel& p, int step, std::span<V> acc) {
  llvm::Type* byte = b_.getInt8Ty();
  Value* at_b = step == 0 ? p.b : b_.CreateGEP(byte, p.b, b_.CreateMul(p.b_step, i64(step)));
  if (p.prefetch_pointer && step % Contract::kStepsPerPrefetch == 0)
    prefetch_at(b_.CreateConstGEP1_64(byte, p.prefetch_pointer, kCacheLine * (step / Contract::kStepsPerPrefetch)), kSecondLevelLocality);
  llvm::SmallVector<V, 8> b;
  for (int v = 0; v < c.vectors; ++v) {
    const int64_t from = v * c.lanes * c.products * p.b_bytes;
    if (c.prefetch_b_bytes && from % 64 == 0) prefetch_at(b_.CreateConstGEP1_64(byte, at_b, from + c.prefetch_b_bytes));
    const bool masked = c.b_mask != kNone && v == c.vectors - 1;
    b.push_back(contract_operand(c, c.b, b_.CreateConstGEP1_64(byte, at_b, from), c.lanes, masked ? reg(c.b_mask).v : nullptr));
  }
  if (p.scale) {
    Value* at = step == 0 ? p.scale : b_.CreateGEP(byte, p.scale, b_.CreateMul(p.scale_step, i64(step)));
    const V scale = splat(contract_operand(c, c.scale, at, 1, nullptr), c.lanes);
    for (V& row : b) row = row * scale;
  }
  for (int r = 0; r < c.rows; ++r) {
    const auto [base, neighbour] = p.of(r);
    Value* at_a = p.a[base];
    if (neighbour) at_a = b_.CreateGEP(byte, at_a, b_.CreateMul(p.stride, i64(neighbour)));
    if (step) at_a = b_.CreateGEP(byte, at_a, b_.CreateMul(p.a_step, i64(step)));
    const V a = splat(contract_operand(c, c.a, at_a, 1, nullptr), c.lanes);
    for (int v = 0; v < c.vectors; ++v) {
      V& sum = acc[r * c.vectors + v];
      sum = multiply_add(c, a, b[v], sum);
    }
  }
}

}  // namespace tenon::codegen::machine
