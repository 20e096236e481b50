// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/expr/text.h"

namespace tenon::inline base {
namespace {

/// Names of operators, in the order of ExprOp.
constexpr std::array kNames = std::to_array<std::string_view>(
    {"constant",   "input",       "axis",        "dim",     "neg",        "abs",    "sign",    "floor",      "ceil",        "round_even",
     "trunc",      "sqrt",        "reciprocal",  "exp",     "log",        "log1p",  "expm1",   "sin",        "cos",         "tan",
     "asin",       "acos",        "atan",        "sinh",    "cosh",       "tanh",   "asinh",   "acosh",      "atanh",       "erf",
     "is_nan",     "is_inf",      "logical_not", "bit_not", "cast",       "add",    "sub",     "mul",        "div",         "mod",
     "rem",        "pow",         "min",         "max",     "bit_and",    "bit_or", "bit_xor", "shift_left", "shift_right", "logical_and",
     "logical_or", "logical_xor", "equal",       "less",    "less_equal", "select"});
static_assert(kNames.size() == static_cast<size_t>(ExprOp::select) + 1);

std::string constant_text(const ExprNode& node) {
  if (node.dtype == DType::boolean) return node.int_value != 0 ? "true" : "false";
  if (node.dtype == DType::u64) return fmt::format("{}", static_cast<uint64_t>(node.int_value));
  return is_float(node.dtype) ? fmt::format("{}", node.float_value) : fmt::format("{}", node.int_value);
}

/// Without its arguments; those that it has follow.
std::string leaf_text(const ExprNode& node) {
  switch (node.op) {
    case ExprOp::constant: return constant_text(node);
    case ExprOp::input: return fmt::format("x{}", node.index);
    case ExprOp::axis: return fmt::format("i{}", node.index);
    case ExprOp::dim: return fmt::format("[{}]", node.size.text());
    default: return std::string(name_of(node.op));
  }
}

std::string typed(std::string text, DType dtype) { return std::move(text) + ":" + std::string(name_of(dtype)); }

/// Prints what `parse_expr` reads: both pass the same types down to the operands.
struct TypedPrinter {
  std::span<const DType> inputs;

  /// The text of `e` gives its dtype.
  static bool determines_type(const Expr& e) {
    if (e.op() == ExprOp::constant) return e.dtype() == DType::boolean;
    if (e.args().empty() || e.op() == ExprOp::cast || gives_bool(e.op())) return true;
    return std::ranges::any_of(e.args().subspan(e.op() == ExprOp::select ? 1 : 0), determines_type);
  }

  /// The dtype of the operands that share one; none: nothing determines it.
  static DType operand_type(const Expr& e, DType result) {
    if (takes_bools(e.op())) return DType::boolean;
    if (e.op() == ExprOp::cast) return DType::none;
    if (gives_bool(e.op())) return std::ranges::any_of(e.args(), determines_type) ? e.args()[0].dtype() : DType::none;
    return determines_type(e) ? e.dtype() : result;
  }

  std::string print(const Expr& e, DType result) const {
    std::string out = leaf_text(*e);
    if (e.op() == ExprOp::constant) return e.dtype() == DType::boolean || e.dtype() == result ? out : typed(out, e.dtype());
    if (e.op() == ExprOp::input) {
      const auto k = static_cast<size_t>(e->index);
      return k < inputs.size() && inputs[k] == e.dtype() ? out : typed(out, e.dtype());
    }
    if (e.args().empty()) return out;
    const DType operands = operand_type(e, result);
    for (size_t k = 0; k < e.args().size(); ++k) {
      const bool condition = e.op() == ExprOp::select && k == 0;
      out += (k == 0 ? "(" : ", ") + print(e.args()[k], condition ? DType::boolean : operands);
    }
    if (e.op() == ExprOp::cast) out += fmt::format(", {}", name_of(e.dtype()));
    return out + ")";
  }
};

}  // namespace

std::string_view name_of(ExprOp op) { return kNames[static_cast<size_t>(op)]; }

std::string Expr::text() const {
  if (!node_) return "null";
  std::string out = leaf_text(*node_);
  if (node_->args.empty()) return out;
  for (size_t i = 0; i < node_->args.size(); ++i) out += (i == 0 ? "(" : ", ") + node_->args[i].text();
  if (node_->op == ExprOp::cast) out += fmt::format(", {}", name_of(node_->dtype));
  return out + ")";
}

std::string text_of(const Expr& e, const ExprTypes& types) { return e ? TypedPrinter{types.inputs}.print(e, types.result) : "null"; }

}  // namespace tenon::inline base
