// SPDX-License-Identifier: Apache-2.0
#include "base/expr/linear.h"

namespace tenon::inline base {
namespace {

/// An index expression without axes and loads as a size.
std::optional<Dim> size_of(const Expr& e) {
  const Linear sum = linear_of(e);
  if (sum.is_constant()) return sum.offset;
  std::vector<Dim> args;
  for (const Expr& arg : e.args()) {
    if (arg.dtype() != DType::i64) return std::nullopt;
    const auto size = size_of(arg);
    if (!size) return std::nullopt;
    args.push_back(*size);
  }
  if (args.size() != 2) return std::nullopt;
  const bool rounds_alike = args[0].lower() >= 0 && args[1].lower() > 0;
  switch (e.op()) {
    case ExprOp::add: return args[0] + args[1];
    case ExprOp::sub: return args[0] - args[1];
    case ExprOp::mul: return args[0] * args[1];
    case ExprOp::div: return rounds_alike ? std::optional(floor_div(args[0], args[1])) : std::nullopt;
    case ExprOp::rem: return rounds_alike ? std::optional(mod(args[0], args[1])) : std::nullopt;
    case ExprOp::mod: return args[1].lower() > 0 ? std::optional(mod(args[0], args[1])) : std::nullopt;
    case ExprOp::min: return min(args[0], args[1]);
    case ExprOp::max: return max(args[0], args[1]);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Affine> affine_of(const Expr& index, int axes) {
  if (index.dtype() != DType::i64) return std::nullopt;
  const Linear sum = linear_of(with_dtype(simplify(index), DType::i64));
  Affine out{std::vector<Dim>(static_cast<size_t>(axes), Dim(0)), sum.offset};
  for (const auto& [term, coefficient] : sum.terms) {
    if (term.op() == ExprOp::axis) {
      if (term->index < 0 || term->index >= axes) return std::nullopt;
      out.coefficients[static_cast<size_t>(term->index)] = out.coefficients[static_cast<size_t>(term->index)] + coefficient;
      continue;
    }
    const auto size = size_of(term);
    if (!size) return std::nullopt;
    out.offset = out.offset + *size * coefficient;
  }
  return out.offset.is_overflow() ? std::nullopt : std::optional(std::move(out));
}

}  // namespace tenon::inline base
