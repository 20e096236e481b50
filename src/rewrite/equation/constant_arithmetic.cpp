// SPDX-License-Identifier: Apache-2.0
// Arithmetic of conditions, attributes and constants on the right of equations.
#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/expr/evaluate.h"
#include "rewrite/equation/functions.h"

namespace tenon::rewrite {
namespace {

constexpr int64_t kMostConstantBytes = 65536;

/// nullopt: the result does not fit, or there is none.
std::optional<int64_t> calculate_integers(Arithmetic op, int64_t a, int64_t b) {
  const bool divides = op == Arithmetic::divide || op == Arithmetic::floor_divide || op == Arithmetic::modulo;
  if (divides && (b == 0 || (b == -1 && a == INT64_MIN))) return std::nullopt;
  switch (op) {
    case Arithmetic::add: return checked_add(a, b);
    case Arithmetic::subtract: return checked_sub(a, b);
    case Arithmetic::multiply: return checked_mul(a, b);
    case Arithmetic::divide: return a % b == 0 ? std::optional(a / b) : std::nullopt;
    case Arithmetic::floor_divide: return floor_div(a, b);
    case Arithmetic::modulo: return floor_mod(a, b);
    case Arithmetic::minimum: return std::min(a, b);
    case Arithmetic::maximum: return std::max(a, b);
    case Arithmetic::power: break;
  }
  if (b < 0 || b > 63) return std::nullopt;
  std::optional<int64_t> out = 1;
  for (int64_t i = 0; i < b && out; ++i) out = checked_mul(*out, a);
  return out;
}

ExprOp float_operator(Arithmetic op) {
  switch (op) {
    case Arithmetic::add: return ExprOp::add;
    case Arithmetic::subtract: return ExprOp::sub;
    case Arithmetic::multiply: return ExprOp::mul;
    case Arithmetic::divide:
    case Arithmetic::floor_divide: return ExprOp::div;
    case Arithmetic::modulo: return ExprOp::mod;
    case Arithmetic::power: return ExprOp::pow;
    case Arithmetic::minimum: return ExprOp::min;
    case Arithmetic::maximum: return ExprOp::max;
  }
  TENON_ASSERT(!"an arithmetic operator");
  return ExprOp::add;
}

/// The operator in f64, with the same results as in a kernel.
double calculate_floats(Arithmetic op, double a, double b) {
  const double out = apply(float_operator(op), DType::f64, DType::f64, {a, 0}, {b, 0}, {}, false).number;
  return op == Arithmetic::floor_divide ? std::floor(out) : out;
}

std::optional<Dim> calculate_sizes(Arithmetic op, Dim a, Dim b) {
  switch (op) {
    case Arithmetic::add: return a + b;
    case Arithmetic::subtract: return a - b;
    case Arithmetic::multiply: return a * b;
    case Arithmetic::divide: return exact_quotient(a, b);
    case Arithmetic::floor_divide: return floor_div(a, b);
    case Arithmetic::modulo: return mod(a, b);
    case Arithmetic::minimum: return min(a, b);
    case Arithmetic::maximum: return max(a, b);
    case Arithmetic::power: break;
  }
  return std::nullopt;
}

/// The tensor of a term; nullopt where there is none, or it is too large or of a type without arithmetic.
std::optional<Tensor> tensor_of(const TermValue& d, const Match& m) {
  const Tensor* found = nullptr;
  if (const auto* v = std::get_if<ValueId>(&d)) found = m.is_constant(*v) ? m.graph().tensor_of(*v, kMostConstantBytes) : nullptr;
  else found = std::get_if<Tensor>(&d);
  if (!found || found->dtype() == DType::u64 || (!is_arithmetic_float(found->dtype()) && !is_integer(found->dtype()))) return std::nullopt;
  return *found;
}

std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
  Sizes out(std::max(a.size(), b.size()));
  int64_t count = 1;
  for (size_t i = 0; i < out.size(); ++i) {  // from the last axis
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
    count *= x == 1 ? y : x;
    if (count > kMostConstantBytes) return std::nullopt;
  }
  return out;
}

/// Which element of a tensor of shape `of` is at element `index` of shape `out`.
int64_t element_at(int64_t index, const Sizes& out, const Sizes& of) {
  int64_t at = 0, stride = 1;
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t size = out[out.size() - 1 - i], coordinate = index % size;
    index /= size;
    if (i >= of.size()) continue;
    const int64_t own = of[of.size() - 1 - i];
    at += own == 1 ? 0 : coordinate * stride;
    stride *= own;
  }
  return at;
}

Answer calculate_tensors(Arithmetic op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) return std::nullopt;
  const auto shape = broadcast(a.shape(), b.shape());
  if (!shape) return std::nullopt;
  auto out = Tensor::make(a.dtype(), *shape, kMostConstantBytes);
  if (!out) return std::nullopt;
  const bool whole = is_integer(a.dtype());
  for (int64_t i = 0; i < out->count(); ++i) {
    const int64_t p = element_at(i, *shape, a.shape()), q = element_at(i, *shape, b.shape());
    if (!whole) {
      out->set_number(i, calculate_floats(op, a.number(p), b.number(q)));
      continue;
    }
    const auto value = calculate_integers(op, a.integer(p), b.integer(q));
    if (!value) return std::nullopt;
    out->set_integer(i, *value);
    if (out->integer(i) != *value) return std::nullopt;  // it would wrap
  }
  return TermValue(std::move(*out));
}

Answer calculate_lists(Arithmetic op, const ir::Ints& a, const ir::Ints& b) {
  if (a.size() != b.size()) return std::nullopt;
  ir::Ints out;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto value = calculate_integers(op, a[i], b[i]);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return TermValue(std::move(out));
}

}  // namespace

Answer calculate(Arithmetic op, const TermValue& a, const TermValue& b, const Match& match) {
  if (const auto x = as_integer(a), y = as_integer(b); x && y) {
    const auto out = calculate_integers(op, *x, *y);
    return out ? Answer(*out) : std::nullopt;
  }
  if (const auto x = as_number(a), y = as_number(b); x && y) return TermValue(calculate_floats(op, *x, *y));
  if (const auto x = as_dim(a), y = as_dim(b); x && y) {
    const auto out = calculate_sizes(op, *x, *y);
    return out && !out->is_overflow() ? Answer(term_value_of(*out)) : std::nullopt;
  }
  const auto *p = std::get_if<ir::Ints>(&a), *q = std::get_if<ir::Ints>(&b);
  if (p && q) return calculate_lists(op, *p, *q);
  const auto x = tensor_of(a, match), y = tensor_of(b, match);
  if (x && y) return calculate_tensors(op, *x, *y);
  const auto scalar = [](const Tensor& like, const TermValue& d) -> std::optional<Tensor> {
    const auto number = as_number(d);
    if (!number || (is_integer(like.dtype()) && !as_integer(d))) return std::nullopt;
    return Tensor::scalar(like.dtype(), *number);
  };
  if (x) {
    const auto other = scalar(*x, b);
    return other ? calculate_tensors(op, *x, *other) : std::nullopt;
  }
  const auto other = y ? scalar(*y, a) : std::nullopt;
  return other ? calculate_tensors(op, *other, *y) : std::nullopt;
}

Answer calculate(double (*function)(double), const TermValue& a, const Match& match) {
  if (const auto x = as_number(a)) return TermValue(function(*x));
  const auto x = tensor_of(a, match);
  if (!x || !is_arithmetic_float(x->dtype())) return std::nullopt;
  auto out = Tensor::make(x->dtype(), x->shape(), kMostConstantBytes);
  if (!out) return std::nullopt;
  for (int64_t i = 0; i < out->count(); ++i) out->set_number(i, function(x->number(i)));
  return TermValue(std::move(*out));
}

}  // namespace tenon::rewrite
