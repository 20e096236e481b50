// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "codegen/tile/scalar.h"

namespace tenon::codegen {
namespace {

constexpr TileType kIndex{DType::i64, 1};

/// Checks a kernel. A register is visible after its definition, to the end of the block that defines it.
class TileVerifier {
 public:
  explicit TileVerifier(const TileKernel& kernel) : kernel_(kernel), written_(kernel.registers.size()), visible_(kernel.registers.size()) {}

  Result<void> kernel() {
    for (const TileType& t : kernel_.registers)
      if (!is_tile_element(t.element) || t.lanes < 1 || t.lanes > 64 || (t.lanes & (t.lanes - 1))) return bad("register type", text(t));
    for (const Buffer& b : kernel_.buffers)
      if (!is_tile_element(b.dtype) || b.scratch_count < 0 || b.argument < 0) return bad("buffer of dtype", std::string(name_of(b.dtype)));
    return block(kernel_.body);
  }

 private:
  Error bad(std::string_view what, std::string found) const {
    return fail(Code::internal, kernel_.name, fmt::format("tile IR: bad {}", what)).found(std::move(found));
  }
  static std::string text(const TileType& t) { return fmt::format("{}x{}", name_of(t.element), t.lanes); }
  const TileType& type(Reg r) const { return kernel_.registers[r]; }

  Result<void> use(Reg r, const TileType& expected) const {
    if (r < 0 || r >= static_cast<Reg>(visible_.size()) || !visible_[r]) return bad("use", fmt::format("%{} does not dominate", r));
    if (type(r) != expected) return bad(fmt::format("operand type, needs {}", text(expected)), text(type(r)));
    return {};
  }
  Result<void> use_any(Reg r) const {
    if (r < 0 || r >= static_cast<Reg>(visible_.size())) return bad("register", fmt::format("%{}", r));
    return use(r, type(r));
  }
  Result<void> use_optional(Reg r, const TileType& expected) const { return r == kNone ? Result<void>{} : use(r, expected); }

  Result<void> define(Reg r, const TileType& as) {
    if (r < 0 || r >= static_cast<Reg>(written_.size())) return bad("result", fmt::format("%{}", r));
    if (written_[r]) return bad("second write", fmt::format("%{}", r));
    if (type(r) != as) return bad(fmt::format("result type, needs {}", text(as)), text(type(r)));
    written_[r] = visible_[r] = true;
    scope_.push_back(r);
    return {};
  }

  /// Checks a nested block and its yields; the registers that it defines are not visible after it.
  Result<void> nested(const TileBlock& body, const std::vector<Reg>& yields, const std::vector<Reg>& results, size_t scope_begin) {
    TRY(block(body));
    if (yields.size() != results.size()) return bad("number of yields", fmt::format("{}", yields.size()));
    for (size_t i = 0; i < yields.size(); ++i) {
      TRY(use_any(results[i] >= 0 ? yields[i] : kNone));
      if (results[i] >= static_cast<Reg>(visible_.size()) || type(yields[i]) != type(results[i]))
        return bad("yield type", text(type(yields[i])));
    }
    for (size_t i = scope_begin; i < scope_.size(); ++i) visible_[scope_[i]] = false;
    scope_.resize(scope_begin);
    return {};
  }

  Result<void> block(const TileBlock& instructions) {
    for (const TileInstr& in : instructions) TRY(instruction(in));
    return {};
  }

  Result<void> arity(const TileInstr& in, size_t count) const {
    if (in.args.size() != count) return bad(fmt::format("number of operands of {}", name_of(in.op)), fmt::format("{}", in.args.size()));
    return {};
  }

  Result<void> instruction(const TileInstr& in) {
    switch (in.op) {
      case TileOp::load:
      case TileOp::store:
      case TileOp::prefetch: return memory(in);
      case TileOp::loop: return loop(in);
      case TileOp::branch: return branch(in);
      case TileOp::contract: return contract(in.contract);
      case TileOp::transpose: return transpose(in);
      default: break;
    }
    TRY(operands(in));
    return define(in.result, in.type);
  }

  Result<void> operands(const TileInstr& in) {
    const TileType& t = in.type;
    switch (in.op) {
      case TileOp::size:
        if (in.index < 0 || in.index >= kernel_.sizes) return bad("size number", fmt::format("{}", in.index));
        [[fallthrough]];
      case TileOp::task_begin:
      case TileOp::task_end:
        if (t != kIndex) return bad("type", text(t));
        return {};
      case TileOp::splat: TRY(arity(in, 1)); return use(in.args[0], {t.element, 1});
      case TileOp::first_mask:
        TRY(arity(in, 1));
        if (t.element != DType::boolean) return bad("mask type", text(t));
        return use(in.args[0], kIndex);
      case TileOp::fma:
        TRY(arity(in, 3));
        if (t.element == DType::boolean) return bad("fma type", text(t));
        for (Reg r : in.args) TRY(use(r, t));
        return {};
      case TileOp::dot:
        TRY(arity(in, 3));
        if (t.element != DType::i32 && t.element != DType::f32) return bad("dot type", text(t));
        for (const size_t k : {0U, 1U}) TRY(use(in.args[k], {DType::i32, t.lanes}));
        return use(in.args[2], t);
      case TileOp::pair:
        TRY(arity(in, 2));
        if (t.element != DType::i32) return bad("pair type", text(t));
        for (const Reg r : in.args) TRY(use(r, {DType::f32, t.lanes}));
        return {};
      case TileOp::reduce: return reduce(in);
      case TileOp::expr: return expression(in);
      default: return {};
    }
  }

  Result<void> reduce(const TileInstr& in) {
    using ops::Combine;
    TRY(arity(in, 1));
    TRY(use_any(in.args[0]));
    const DType d = in.type.element;
    const bool logical = in.combine == Combine::logical_and || in.combine == Combine::logical_or;
    const bool ordered = in.combine == Combine::min || in.combine == Combine::max;
    if (in.combine == Combine::none || (logical && d != DType::boolean) || (!logical && !ordered && d == DType::boolean))
      return bad(fmt::format("reduce {}", name_of(in.combine)), text(in.type));
    if (type(in.args[0]).element != d || in.type.lanes != 1) return bad("reduce type", text(in.type));
    return {};
  }

  Result<void> expression(const TileInstr& in) {
    TRY(arity(in, operands_of(in.expr_op)));
    if (in.args.empty()) return bad("expression", "a leaf");
    for (Reg r : in.args) TRY(use_any(r));
    const TileType operand = type(in.args.back());
    if (!is_defined(in.expr_op, operand.element)) return bad(fmt::format("operand of {}", name_of(in.expr_op)), text(operand));
    for (size_t i = 0; i < in.args.size(); ++i) {
      const bool condition = in.expr_op == ExprOp::select && i == 0;
      TRY(use(in.args[i], condition ? TileType{DType::boolean, operand.lanes} : operand));
    }
    const bool test =
        in.expr_op == ExprOp::is_nan || in.expr_op == ExprOp::is_inf || (in.expr_op >= ExprOp::equal && in.expr_op <= ExprOp::less_equal);
    const DType result = test ? DType::boolean : in.expr_op == ExprOp::cast ? in.type.element : operand.element;
    if (in.type != TileType{result, operand.lanes}) return bad(fmt::format("result of {}", name_of(in.expr_op)), text(in.type));
    return {};
  }

  Result<void> buffer(int32_t number, bool write) const {
    if (number < 0 || number >= static_cast<int32_t>(kernel_.buffers.size())) return bad("buffer number", fmt::format("{}", number));
    if (write && !kernel_.buffers[number].written) return bad("store into a buffer that is only read", fmt::format("b{}", number));
    return {};
  }

  Result<void> memory(const TileInstr& in) {
    const bool store = in.op == TileOp::store;
    TRY(arity(in, store ? 2 : 1));
    TRY(buffer(in.buffer, store));
    TRY(use(in.args.back(), kIndex));
    TRY(use_optional(in.stride, kIndex));
    TRY(use_optional(in.offsets, {DType::i64, in.type.lanes}));
    TRY(use_optional(in.mask, {DType::boolean, in.type.lanes}));
    TRY(use_optional(in.fill, in.type));
    const DType stored = kernel_.buffers[in.buffer].dtype;
    const bool plain = in.stride == kNone && in.offsets == kNone && in.mask == kNone && in.op != TileOp::prefetch;
    const bool words = plain && in.type.element == DType::i32 && (bits_of(stored) == 8 || bits_of(stored) == 16);
    if (in.words ? !words : in.type.element != stored) return bad("element type of a memory access", text(in.type));
    if (store) return in.broadcast ? Result<void>(bad("store", "broadcast")) : use(in.args[0], in.type);
    return in.op == TileOp::load ? define(in.result, in.type) : Result<void>{};
  }

  Result<void> transpose(const TileInstr& in) {
    TRY(arity(in, static_cast<size_t>(in.type.lanes)));
    if (in.type.lanes < 2 || in.type.element == DType::boolean) return bad("transpose type", text(in.type));
    if (in.results.size() != in.args.size()) return bad("number of results of transpose", fmt::format("{}", in.results.size()));
    for (Reg r : in.args) TRY(use(r, in.type));
    for (Reg r : in.results) TRY(define(r, in.type));
    return {};
  }

  Result<void> loop(const TileInstr& in) {
    TRY(arity(in, 3));
    for (Reg r : in.args) TRY(use(r, kIndex));
    if (in.carried.size() != in.carried_in.size() || in.unroll < 1) return bad("loop", "carried values");
    const size_t scope = scope_.size();
    for (Reg r : in.carried_in) TRY(use_any(r));
    TRY(define(in.induction, kIndex));
    for (size_t i = 0; i < in.carried.size(); ++i) TRY(define(in.carried[i], type(in.carried_in[i])));
    TRY(nested(in.body, in.yields, in.carried, scope));
    if (in.results.size() != in.carried.size()) return bad("loop", "results");
    for (size_t i = 0; i < in.results.size(); ++i) TRY(define(in.results[i], type(in.carried[i])));
    return {};
  }

  Result<void> branch(const TileInstr& in) {
    TRY(arity(in, 1));
    TRY(use(in.args[0], {DType::boolean, 1}));
    TRY(nested(in.body, in.yields, in.results, scope_.size()));
    TRY(nested(in.otherwise, in.otherwise_yields, in.results, scope_.size()));
    for (size_t i = 0; i < in.results.size(); ++i) TRY(define(in.results[i], type(in.yields[i])));
    return {};
  }

  Result<void> contract_group(const Contract& c) const {
    const DType a = kernel_.buffers[c.a].dtype, b = kernel_.buffers[c.b].dtype;
    if (c.products == 1 || c.products == products_per_instruction(a, b, c.accumulator)) return {};
    return bad("contract group", fmt::format("{} of {} x {} in {}", c.products, name_of(a), name_of(b), name_of(c.accumulator)));
  }

  Result<void> contract_scale(const Contract& c) {
    TRY(buffer(c.scale, false));
    if (c.products == 1 && is_float(c.accumulator) && kernel_.buffers[c.scale].dtype == c.accumulator) return {};
    return bad("contract scale", fmt::format("{} of {} products", name_of(kernel_.buffers[c.scale].dtype), c.products));
  }

  Result<void> contract(const Contract& c) {
    const size_t count = static_cast<size_t>(c.rows) * c.vectors;
    if (c.rows < 1 || c.vectors < 1 || c.accumulators_in.size() != count || c.accumulators_out.size() != count)
      return bad("contract", "tile size");
    if (c.rows_per_line < 0 || (c.rows_per_line > 0 && c.rows % c.rows_per_line != 0)) return bad("contract", "lines");
    if (bits_of(c.accumulator) < 32) return bad("contract accumulator", std::string(name_of(c.accumulator)));
    TRY(buffer(c.a, false));
    TRY(buffer(c.b, false));
    TRY(contract_group(c));
    if (c.scale >= 0) TRY(contract_scale(c));
    TRY(use(c.depth, kIndex));
    for (Reg r : {c.a_offset, c.a_row_stride, c.a_line_stride, c.a_k_stride, c.b_offset, c.b_k_stride, c.prefetch_from, c.scale_offset,
                  c.scale_k_stride})
      TRY(use_optional(r, kIndex));
    TRY(use_optional(c.b_mask, {DType::boolean, c.lanes}));
    for (Reg r : c.accumulators_in) TRY(use_optional(r, {c.accumulator, c.lanes}));
    for (Reg r : c.accumulators_out) TRY(define(r, {c.accumulator, c.lanes}));
    return {};
  }

  const TileKernel& kernel_;
  std::vector<bool> written_, visible_;
  std::vector<Reg> scope_;  ///< visible registers in the order of their definition
};

}  // namespace

Result<void> verify(const TileKernel& kernel) { return TileVerifier(kernel).kernel(); }

}  // namespace tenon::codegen
