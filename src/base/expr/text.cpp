// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "base/expr/expr.h"

namespace tenon::inline base {
namespace {

/// In the order of ExprOp.
constexpr std::array kNames = std::to_array<std::string_view>(
    {"constant",   "input",       "axis",        "dim",     "neg",        "abs",    "sign",    "floor",      "ceil",        "round_even",
     "trunc",      "sqrt",        "reciprocal",  "exp",     "log",        "log1p",  "expm1",   "sin",        "cos",         "tan",
     "asin",       "acos",        "atan",        "sinh",    "cosh",       "tanh",   "asinh",   "acosh",      "atanh",       "erf",
     "is_nan",     "is_inf",      "logical_not", "bit_not", "cast",       "add",    "sub",     "mul",        "div",         "mod",
     "rem",        "pow",         "min",         "max",     "bit_and",    "bit_or", "bit_xor", "shift_left", "shift_right", "logical_and",
     "logical_or", "logical_xor", "equal",       "less",    "less_equal", "select"});
static_assert(kNames.size() == static_cast<size_t>(ExprOp::select) + 1);

std::string constant_text(const ExprNode& node) {
  if (node.dtype == DType::boolean) return node.integer != 0 ? "true" : "false";
  if (node.dtype == DType::u64) return fmt::format("{}", static_cast<uint64_t>(node.integer));
  return is_float(node.dtype) ? fmt::format("{}", node.number) : fmt::format("{}", node.integer);
}

}  // namespace

std::string_view name_of(ExprOp op) { return kNames[static_cast<size_t>(op)]; }

std::string Expr::text() const {
  if (!node_) return "null";
  switch (node_->op) {
    case ExprOp::constant: return constant_text(*node_);
    case ExprOp::input: return fmt::format("x{}", node_->index);
    case ExprOp::axis: return fmt::format("i{}", node_->index);
    case ExprOp::dim: return fmt::format("[{}]", node_->size.text());
    default: break;
  }
  std::string out(name_of(node_->op));
  for (size_t i = 0; i < node_->args.size(); ++i) out += (i == 0 ? "(" : ", ") + node_->args[i].text();
  if (node_->op == ExprOp::cast) out += fmt::format(", {}", name_of(node_->dtype));
  return out + ")";
}

}  // namespace tenon::inline base
