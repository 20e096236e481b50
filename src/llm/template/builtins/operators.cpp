// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/operators.h"

#include <cmath>

#include "llm/template/builtins/markup.h"
#include "llm/template/builtins/percent_format.h"

namespace tenon::llm::jinja {
namespace {

Error bad_operands(std::string_view symbol, const Value& a, const Value& b) {
  if (a.is_undefined() || b.is_undefined()) return undefined_error(a.is_undefined() ? a : b);
  return run_error("the operands of " + std::string(symbol) + " do not fit")
      .found(std::string(type_name(a)) + " and " + std::string(type_name(b)));
}

Error overflow() { return fail(Code::not_supported, "", "not supported yet: integers beyond 63 bits"); }
Error zero() { return run_error("division by zero"); }

/// Two ints (or bools) to an int by one of the compiler's checked operations, two numbers to a float by `floats`; Absent for others.
template <class Checked, class Floats>
Result<Value> arithmetic(const Value& a, const Value& b, const Checked& checked, const Floats& floats) {
  int64_t x = 0, y = 0, out = 0;
  if (integer_of(a, x) && integer_of(b, y)) {
    if (checked(x, y, &out)) return overflow();
    return Value::integer(out);
  }
  if (is_number(a) && is_number(b)) return Value::floating(floats(number_of(a), number_of(b)));
  return Value();
}

Result<Value> add_texts(RenderState& state, const Value& a, const Value& b) {
  TRY(state.take(a.text()->size() + b.text()->size()));
  if (a.is_safe() || b.is_safe()) return Value::text(TRY(escaped_text_of(state, a)) + TRY(escaped_text_of(state, b)), true);
  return Value::text(*a.text() + *b.text());
}

bool is_list_or_tuple(const Sequence* s) { return s && (s->kind == SequenceKind::list || s->kind == SequenceKind::tuple); }

Result<Value> repeat(RenderState& state, const Value& value, int64_t count) {
  const auto times = static_cast<uint64_t>(std::max<int64_t>(count, 0));
  if (const std::string* text = value.text()) {
    TRY(state.take(text->size(), times));
    std::string out;
    if (!text->empty()) out.reserve(text->size() * times);
    for (uint64_t i = 0; i < times && !text->empty(); ++i) out += *text;
    return Value::text(std::move(out), value.is_safe());
  }
  const Sequence& in = *value.sequence();
  TRY(state.take(times, in.items.size() * sizeof(Value)));
  Sequence out{.kind = in.kind, .items = {}};
  for (uint64_t i = 0; i < times && !in.items.empty(); ++i) out.items.insert(out.items.end(), in.items.begin(), in.items.end());
  return state.admit(Value::sequence(std::move(out)));
}

int64_t floor_quotient(int64_t x, int64_t y) {
  const int64_t quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

double floor_remainder(double x, double y) {
  const double out = std::fmod(x, y);
  if (out == 0) return std::copysign(0.0, y);
  return (out < 0) != (y < 0) ? out + y : out;
}

Result<Value> integer_power(int64_t base, int64_t exponent) {
  int64_t out = 1;
  while (exponent > 0) {
    if ((exponent & 1) && __builtin_mul_overflow(out, base, &out)) return overflow();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return overflow();
  }
  return Value::integer(out);
}

}  // namespace

Result<Value> add(RenderState& state, const Value& a, const Value& b) {
  Value out = TRY(arithmetic(a, b, [](int64_t x, int64_t y, int64_t* z) { return __builtin_add_overflow(x, y, z); }, std::plus<double>()));
  if (!out.is_absent()) return out;
  if (a.text() && b.text()) return add_texts(state, a, b);
  const Sequence *x = a.sequence(), *y = b.sequence();
  if (is_list_or_tuple(x) && is_list_or_tuple(y) && x->kind == y->kind) {
    TRY(state.take(x->items.size() + y->items.size(), sizeof(Value)));
    Sequence sum{.kind = x->kind, .items = x->items};
    sum.items.insert(sum.items.end(), y->items.begin(), y->items.end());
    return state.admit(Value::sequence(std::move(sum)));
  }
  return bad_operands("+", a, b);
}

Result<Value> subtract(RenderState&, const Value& a, const Value& b) {
  Value out = TRY(arithmetic(a, b, [](int64_t x, int64_t y, int64_t* z) { return __builtin_sub_overflow(x, y, z); }, std::minus<double>()));
  if (!out.is_absent()) return out;
  return bad_operands("-", a, b);
}

Result<Value> multiply(RenderState& state, const Value& a, const Value& b) {
  Value out =
      TRY(arithmetic(a, b, [](int64_t x, int64_t y, int64_t* z) { return __builtin_mul_overflow(x, y, z); }, std::multiplies<double>()));
  if (!out.is_absent()) return out;
  int64_t count = 0;
  if ((a.text() || is_list_or_tuple(a.sequence())) && integer_of(b, count)) return repeat(state, a, count);
  if ((b.text() || is_list_or_tuple(b.sequence())) && integer_of(a, count)) return repeat(state, b, count);
  return bad_operands("*", a, b);
}

Result<Value> divide(RenderState&, const Value& a, const Value& b) {
  if (!is_number(a) || !is_number(b)) return bad_operands("/", a, b);
  if (number_of(b) == 0) return zero();
  return Value::floating(number_of(a) / number_of(b));
}

Result<Value> floor_divide(RenderState&, const Value& a, const Value& b) {
  if (!is_number(a) || !is_number(b)) return bad_operands("//", a, b);
  int64_t x = 0, y = 0;
  if (number_of(b) == 0) return zero();
  if (integer_of(a, x) && integer_of(b, y)) {
    if (x == INT64_MIN && y == -1) return overflow();
    return Value::integer(floor_quotient(x, y));
  }
  const double p = number_of(a), q = number_of(b);
  const double quotient = (p - floor_remainder(p, q)) / q;
  return Value::floating(quotient == 0 ? std::copysign(0.0, p / q) : std::round(quotient));
}

Result<Value> modulo(RenderState& state, const Value& a, const Value& b) {
  if (a.text()) return percent_format(state, a, b);
  if (!is_number(a) || !is_number(b)) return bad_operands("%", a, b);
  int64_t x = 0, y = 0;
  if (number_of(b) == 0) return zero();
  if (integer_of(a, x) && integer_of(b, y)) return Value::integer(y == -1 ? 0 : x - floor_quotient(x, y) * y);
  return Value::floating(floor_remainder(number_of(a), number_of(b)));
}

Result<Value> power(RenderState&, const Value& a, const Value& b) {
  if (!is_number(a) || !is_number(b)) return bad_operands("**", a, b);
  int64_t x = 0, y = 0;
  if (integer_of(a, x) && integer_of(b, y) && y >= 0) return integer_power(x, y);
  const double base = number_of(a), exponent = number_of(b);
  if (base == 0 && exponent < 0) return zero();
  if (base < 0 && exponent != std::floor(exponent)) return fail(Code::not_supported, "", "not supported: complex numbers in templates");
  const double out = std::pow(base, exponent);
  if (std::isinf(out) && std::isfinite(base) && std::isfinite(exponent)) return run_error("the result of ** is too large");
  return Value::floating(out);
}

Result<Value> negate(RenderState&, const Value& a) {
  int64_t x = 0;
  if (integer_of(a, x)) return x == INT64_MIN ? Result<Value>(overflow()) : Value::integer(-x);
  if (a.is<double>()) return Value::floating(-number_of(a));
  if (a.is_undefined()) return undefined_error(a);
  return run_error("the operand of - is no number").found(std::string(type_name(a)));
}

Result<Value> unary_plus(RenderState&, const Value& a) {
  int64_t x = 0;
  if (integer_of(a, x)) return Value::integer(x);
  if (a.is<double>()) return a;
  if (a.is_undefined()) return undefined_error(a);
  return run_error("the operand of + is no number").found(std::string(type_name(a)));
}

}  // namespace tenon::llm::jinja
