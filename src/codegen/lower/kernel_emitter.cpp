// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

KernelEmitter::KernelEmitter(Kernel& kernel, const Plan& plan, const Target& target, std::string name)
    : kernel_(kernel), plan_(plan), target_(target), build_(kernel.tile, plan.sums_in_order) {
  kernel.tile.name = std::move(name);
}

int32_t KernelEmitter::buffer(ArrayId array, bool written) {
  auto found = buffers_.find(array);
  if (found == buffers_.end()) {
    found = buffers_.emplace(array, build_.argument(plan_.arrays[array].dtype, written)).first;
    kernel_.arguments.push_back(array);
  }
  kernel_.tile.buffers[found->second].written |= written;
  return found->second;
}

Reg KernelEmitter::at_entry(TileInstr instr, TileType type) {
  kernel_.tile.registers.push_back(type);
  instr.result = static_cast<Reg>(kernel_.tile.registers.size() - 1);
  instr.type = type;
  entry_.push_back(std::move(instr));
  return entry_.back().result;
}

Reg KernelEmitter::integer(int64_t value) {
  auto [found, fresh] = constants_.try_emplace({DType::i64, value, 0.0}, kNone);
  if (fresh) {
    TileInstr instr;
    instr.integer = value;
    found->second = at_entry(std::move(instr), {DType::i64, 1});
  }
  return found->second;
}

Reg KernelEmitter::dim(Dim size) {
  if (size.is_number()) return integer(size.value());
  auto [found, fresh] = dims_.try_emplace(size, kNone);
  if (fresh) {
    TileInstr instr;
    instr.op = TileOp::size;
    instr.index = kernel_.tile.sizes++;
    kernel_.sizes.push_back(size);
    found->second = at_entry(std::move(instr), {DType::i64, 1});
  }
  return found->second;
}

Reg KernelEmitter::constant(TileType type, const ExprNode& value) {
  const bool real = is_float(type.element);
  // Bits, not the number, tell constants apart: -0 and NaN are constants like others.
  const double number = real ? value.float_value : 0;
  const int64_t key = real ? static_cast<int64_t>(__builtin_bit_cast(int64_t, number)) : value.int_value;
  auto [found, fresh] = constants_.try_emplace({type.element, key, 1.0}, kNone);
  if (fresh) {
    TileInstr instr;
    instr.number = number;
    instr.integer = value.int_value;
    found->second = at_entry(std::move(instr), {type.element, 1});
  }
  return found->second;
}

Reg KernelEmitter::iota() {
  if (iota_ == kNone) {
    TileInstr instr;
    instr.op = TileOp::lanes_iota;
    iota_ = at_entry(std::move(instr), {DType::i64, lanes()});
  }
  return iota_;
}

Result<Reg> KernelEmitter::evaluate(const Expr& e, EvalContext& context) {
  if (auto found = context.memo.find(e.get()); found != context.memo.end()) return found->second.second;
  Reg r = kNone;
  switch (e.op()) {
    case ExprOp::constant: r = constant({e.dtype(), 1}, *e); break;
    case ExprOp::dim: r = dim(e->size); break;
    case ExprOp::axis: r = context.axes[e->index]; break;
    case ExprOp::input: r = TRY(context.load(e->index)); break;
    default: {
      std::vector<Reg> args;
      for (const Expr& a : e.args()) args.push_back(TRY(evaluate(a, context)));
      r = build_.expr(e.op(), std::move(args), e.op() == ExprOp::cast ? e.dtype() : DType::none);
    }
  }
  TENON_ASSERT(r != kNone);
  context.memo[e.get()] = {e, r};
  return r;
}

Reg KernelEmitter::add_scaled(Reg sum, Dim coefficient, Reg axis) {
  if (coefficient == Dim(0)) return sum;
  const Reg term = coefficient == Dim(1) ? axis : build_.mul(axis, dim(coefficient));
  return sum == kNone ? term : build_.add(sum, term);
}

void KernelEmitter::finish() {
  TileBlock& body = kernel_.tile.body;
  body.insert(body.begin(), std::make_move_iterator(entry_.begin()), std::make_move_iterator(entry_.end()));
  entry_.clear();
}

}  // namespace tenon::codegen
