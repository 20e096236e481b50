// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/checked.h"
#include "codegen/tile/tile.h"

namespace tenon::codegen {

namespace {
constexpr size_t kUsualInstructions = 24;  ///< of a loop's body
}

int64_t TileKernel::scratch_bytes() const {
  int64_t bytes = 0;
  for (const Buffer& b : buffers)
    if (b.kind == Buffer::Kind::scratch) bytes += round_up(bytes_of(b.dtype, b.scratch_count), 64);
  return bytes;
}

TileBuilder::TileBuilder(TileKernel& kernel, bool sums_in_order) : kernel_(kernel), sums_in_order_(sums_in_order) {
  blocks_.push_back(&kernel.body);
}

Reg TileBuilder::fresh(TileType type) {
  kernel_.registers.push_back(type);
  return static_cast<Reg>(kernel_.registers.size()) - 1;
}

Reg TileBuilder::append(TileInstr instr) {
  if (instr.op != TileOp::store && instr.op != TileOp::prefetch) instr.result = fresh(instr.type);
  const Reg result = instr.result;
  blocks_.back()->push_back(std::move(instr));
  return result;
}

int32_t TileBuilder::argument(DType dtype, bool written) {
  int32_t position = 0;
  for (const Buffer& b : kernel_.buffers) position += b.kind == Buffer::Kind::argument;
  kernel_.buffers.push_back({.kind = Buffer::Kind::argument, .dtype = dtype, .argument = position, .written = written});
  return static_cast<int32_t>(kernel_.buffers.size()) - 1;
}

int32_t TileBuilder::scratch(DType dtype, int64_t count) {
  kernel_.buffers.push_back({.kind = Buffer::Kind::scratch, .dtype = dtype, .scratch_count = count, .written = true});
  return static_cast<int32_t>(kernel_.buffers.size()) - 1;
}

Reg TileBuilder::integer(int64_t value) { return constant_integer({DType::i64, 1}, value); }

Reg TileBuilder::constant(TileType type, double value) {
  if (!is_float(type.element)) return constant_integer(type, static_cast<int64_t>(value));
  return append({.op = TileOp::constant, .type = type, .number = value});
}

Reg TileBuilder::constant_integer(TileType type, int64_t value) {
  if (is_float(type.element)) return constant(type, static_cast<double>(value));
  return append({.op = TileOp::constant, .type = type, .integer = value});
}

Reg TileBuilder::size(int32_t index) {
  kernel_.sizes = std::max(kernel_.sizes, index + 1);
  return append({.op = TileOp::size, .type = {DType::i64, 1}, .index = index});
}

Reg TileBuilder::task_begin() { return append({.op = TileOp::task_begin, .type = {DType::i64, 1}}); }
Reg TileBuilder::task_end() { return append({.op = TileOp::task_end, .type = {DType::i64, 1}}); }
Reg TileBuilder::iota(TileType type) { return append({.op = TileOp::lanes_iota, .type = type}); }

Reg TileBuilder::splat(Reg scalar, int lanes) {
  if (type(scalar).lanes == lanes) return scalar;
  return append({.op = TileOp::splat, .type = {type(scalar).element, lanes}, .args = {scalar}});
}

namespace {
/// The dtype of an operator's result.
DType element_of(ExprOp op, DType element, DType cast_to) {
  switch (op) {
    case ExprOp::cast: return cast_to;
    case ExprOp::equal:
    case ExprOp::less:
    case ExprOp::less_equal:
    case ExprOp::is_nan:
    case ExprOp::is_inf: return DType::boolean;
    default: return element;
  }
}
}  // namespace

Reg TileBuilder::expr(ExprOp op, std::vector<Reg> args, DType cast_to) {
  int lanes = 1;
  for (Reg a : args) lanes = std::max(lanes, type(a).lanes);
  for (Reg& a : args) a = splat(a, lanes);
  const DType from = type(args.back()).element, to = element_of(op, from, cast_to);
  if (op == ExprOp::cast && from == to) return args[0];
  return append({.op = TileOp::expr, .type = {to, lanes}, .args = std::move(args), .expr_op = op});
}

Reg TileBuilder::fma(Reg a, Reg b, Reg c) {
  const int lanes = std::max({type(a).lanes, type(b).lanes, type(c).lanes});
  return append({.op = TileOp::fma, .type = {type(c).element, lanes}, .args = {splat(a, lanes), splat(b, lanes), splat(c, lanes)}});
}

Reg TileBuilder::dot(Reg a, Reg b, Reg sum) { return append({.op = TileOp::dot, .type = type(sum), .args = {a, b, sum}}); }

Reg TileBuilder::pair(Reg low, Reg high) {
  return append({.op = TileOp::pair, .type = {DType::i32, type(low).lanes}, .args = {low, high}});
}

Reg TileBuilder::reduce(Reg vector, ops::Combine combine) {
  if (type(vector).lanes == 1) return vector;
  return append({.op = TileOp::reduce, .type = {type(vector).element, 1}, .args = {vector}, .combine = combine});
}

Reg TileBuilder::first_mask(Reg count, int lanes) {
  return append({.op = TileOp::first_mask, .type = {DType::boolean, lanes}, .args = {count}});
}

namespace {
TileInstr memory_instr(TileOp op, TileType type, int32_t buffer, const MemoryOptions& options) {
  return {.op = op,
          .type = type,
          .buffer = buffer,
          .stride = options.stride,
          .broadcast = options.broadcast,
          .words = options.words,
          .offsets = options.offsets,
          .mask = options.mask,
          .fill = options.fill,
          .streaming = options.streaming};
}
}  // namespace

Reg TileBuilder::load(int32_t buffer, Reg offset, int lanes, MemoryOptions options) {
  const DType element = options.words ? DType::i32 : kernel_.buffers[buffer].dtype;
  TileInstr in = memory_instr(TileOp::load, {element, lanes}, buffer, options);
  in.args = {offset};
  return append(std::move(in));
}

void TileBuilder::store(int32_t buffer, Reg offset, Reg value, MemoryOptions options) {
  TileInstr in = memory_instr(TileOp::store, type(value), buffer, options);
  in.args = {value, offset};
  append(std::move(in));
}

void TileBuilder::prefetch(int32_t buffer, Reg offset) {
  append({.op = TileOp::prefetch, .type = {kernel_.buffers[buffer].dtype, 1}, .args = {offset}, .buffer = buffer});
}

std::vector<Reg> TileBuilder::transpose(std::vector<Reg> rows) {
  TileInstr in{.op = TileOp::transpose, .type = type(rows[0]), .args = std::move(rows)};
  for (size_t k = 0; k < in.args.size(); ++k) in.results.push_back(fresh(in.type));
  std::vector<Reg> results = in.results;
  blocks_.back()->push_back(std::move(in));
  return results;
}

std::vector<Reg> TileBuilder::loop(Reg from, Reg to, Reg step, std::vector<Reg> carried,
                                   const std::function<std::vector<Reg>(Reg, const std::vector<Reg>&)>& body, int unroll) {
  TileInstr in{.op = TileOp::loop, .args = {from, to, step}, .unroll = unroll};
  in.induction = fresh({DType::i64, 1});
  for (Reg r : carried) in.carried.push_back(fresh(type(r)));
  TileBlock block;
  block.reserve(kUsualInstructions);
  blocks_.push_back(&block);
  in.yields = body(in.induction, in.carried);
  blocks_.pop_back();
  for (Reg r : carried) in.results.push_back(fresh(type(r)));
  in.carried_in = std::move(carried);
  in.body = std::move(block);
  std::vector<Reg> results = in.results;
  blocks_.back()->push_back(std::move(in));
  return results;
}

void TileBuilder::loop(Reg from, Reg to, Reg step, const std::function<void(Reg)>& body) {
  loop(from, to, step, {}, [&](Reg i, const std::vector<Reg>&) {
    body(i);
    return std::vector<Reg>{};
  });
}

std::vector<Reg> TileBuilder::branch(Reg condition, const std::function<std::vector<Reg>()>& then,
                                     const std::function<std::vector<Reg>()>& otherwise) {
  TileInstr in{.op = TileOp::branch, .args = {condition}};
  TileBlock block;
  blocks_.push_back(&block);
  in.yields = then();
  in.body = std::move(block);
  block.clear();
  if (otherwise) in.otherwise_yields = otherwise();
  blocks_.pop_back();
  in.otherwise = std::move(block);
  for (Reg r : in.yields) in.results.push_back(fresh(type(r)));
  std::vector<Reg> results = in.results;
  blocks_.back()->push_back(std::move(in));
  return results;
}

std::vector<Reg> TileBuilder::contract(Contract contract) {
  const size_t count = static_cast<size_t>(contract.rows) * contract.vectors;
  contract.accumulators_in.resize(count, kNone);
  contract.in_order |= sums_in_order_;
  contract.accumulators_out.clear();
  for (size_t i = 0; i < count; ++i) contract.accumulators_out.push_back(fresh({contract.accumulator, contract.lanes}));
  std::vector<Reg> results = contract.accumulators_out;
  TileInstr in{.op = TileOp::contract, .type = {contract.accumulator, contract.lanes}};
  in.contract = std::move(contract);
  blocks_.back()->push_back(std::move(in));
  return results;
}

}  // namespace tenon::codegen
