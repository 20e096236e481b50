// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/filters.h"
#include "llm/template/builtins/globals.h"
#include "llm/template/builtins/lookup.h"
#include "llm/template/builtins/operators.h"
#include "llm/template/builtins/tests.h"
#include "llm/template/run/interpreter.h"
#include "llm/template/values/compare.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {

Result<Value> Interpreter::evaluate(const Expression& e, const ScopePtr& scope) {
  const auto place = [&] { return std::to_string(e.at.line) + ":" + std::to_string(e.at.column); };
  if (auto entered = enter(); !entered) return std::move(entered.error()).at(place());
  ++state_.depth;
  Result<Value> out = std::visit([&](const auto& kind) { return on(kind, scope); }, e.kind);
  --state_.depth;
  if (!out) return std::move(out.error()).at(place());
  return out;
}

Result<Value> Interpreter::optional(const ExpressionPtr& e, const ScopePtr& scope) { return e ? evaluate(*e, scope) : Value(); }

Result<Value> Interpreter::on(const ConstantExpression& e, const ScopePtr&) { return e.value; }

Result<Value> Interpreter::on(const NameExpression& e, const ScopePtr& scope) {
  if (const Value* value = scope->find(e.name)) return *value;
  const std::string& name = syntax_.names[e.name];
  Value value = TRY(global(name));
  return value.is_absent() ? Value::undefined("'" + name + "' is undefined") : value;
}

Result<Value> Interpreter::on(const ListExpression& e, const ScopePtr& scope) {
  std::vector<Value> items;
  items.reserve(e.items.size());
  for (const auto& item : e.items) items.push_back(TRY(evaluate(*item, scope)));
  return state_.admit(e.is_tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items)));
}

Result<Value> Interpreter::on(const DictExpression& e, const ScopePtr& scope) {
  Dictionary out;
  for (const auto& [key_syntax, value_syntax] : e.entries) {
    Value key = TRY(evaluate(*key_syntax, scope));
    if (!is_hashable(key)) return run_error("the value cannot be a key").expected("a hashable value").found(std::string(type_name(key)));
    out.set(std::move(key), TRY(evaluate(*value_syntax, scope)));
  }
  return state_.admit(Value::dictionary(std::move(out)));
}

Result<Value> Interpreter::on(const AttributeExpression& e, const ScopePtr& scope) {
  return attribute(state_, TRY(evaluate(*e.object, scope)), e.name);
}

Result<Value> Interpreter::on(const ItemExpression& e, const ScopePtr& scope) {
  const Value object = TRY(evaluate(*e.object, scope));
  return item(state_, object, TRY(evaluate(*e.index, scope)));
}

Result<Value> Interpreter::on(const SliceExpression& e, const ScopePtr& scope) {
  const Value object = TRY(evaluate(*e.object, scope));
  const Value start = TRY(optional(e.start, scope)), stop = TRY(optional(e.stop, scope)), step = TRY(optional(e.step, scope));
  return state_.admit(TRY(slice(state_, object, start, stop, step)));
}

Result<Arguments> Interpreter::arguments_of(const CallSyntax& call, const ScopePtr& scope) {
  Arguments out;
  out.positional.reserve(call.positional.size());
  for (const auto& e : call.positional) out.positional.push_back(TRY(evaluate(*e, scope)));
  for (const auto& [name, e] : call.named) out.named.emplace_back(name, TRY(evaluate(*e, scope)));
  if (call.star)
    for (Value& item : TRY(items_of(state_, TRY(evaluate(*call.star, scope))))) out.positional.push_back(std::move(item));
  if (!call.double_star) return out;
  const Value named = TRY(evaluate(*call.double_star, scope));
  if (!named.dictionary()) return run_error("** of a call needs a dict").expected("dict").found(std::string(type_name(named)));
  for (const auto& [key, value] : named.dictionary()->entries()) {
    if (!key.text()) return run_error("** of a call needs names").expected("str").found(std::string(type_name(key)));
    out.named.emplace_back(*key.text(), value);
  }
  return out;
}

Result<Value> Interpreter::call(const Value& callee, Arguments arguments) {
  if (callee.is_undefined()) return undefined_error(callee);
  const auto* function = callee.as<std::shared_ptr<const Function>>();
  if (!function)
    return run_error("the value cannot be called").expected("a macro, method or function").found(std::string(type_name(callee)));
  return (*function)->call(state_, std::move(arguments));
}

Result<Value> Interpreter::on(const CallExpression& e, const ScopePtr& scope) {
  const Value callee = TRY(evaluate(*e.callee, scope));
  return call(callee, TRY(arguments_of(e.call, scope)));
}

Result<Value> Interpreter::on(const FilterExpression& e, const ScopePtr& scope) {
  const Value input = TRY(optional(e.input, scope));
  return apply_filter(state_, e.name, input, TRY(arguments_of(e.call, scope)));
}

Result<Value> Interpreter::on(const TestExpression& e, const ScopePtr& scope) {
  const Value input = TRY(evaluate(*e.input, scope));
  return Value::boolean(TRY(apply_test(state_, e.name, input, TRY(arguments_of(e.call, scope)))));
}

Result<Value> Interpreter::on(const UnaryExpression& e, const ScopePtr& scope) {
  const Value operand = TRY(evaluate(*e.operand, scope));
  if (e.op == UnaryOperator::logical_not) return Value::boolean(!is_true(operand));
  return e.op == UnaryOperator::minus ? negate(state_, operand) : unary_plus(state_, operand);
}

Result<Value> Interpreter::on(const BinaryExpression& e, const ScopePtr& scope) {
  const Value left = TRY(evaluate(*e.left, scope));
  if (e.op == BinaryOperator::logical_and || e.op == BinaryOperator::logical_or)
    return is_true(left) == (e.op == BinaryOperator::logical_or) ? left : evaluate(*e.right, scope);
  const Value right = TRY(evaluate(*e.right, scope));
  switch (e.op) {
    case BinaryOperator::add: return add(state_, left, right);
    case BinaryOperator::subtract: return subtract(state_, left, right);
    case BinaryOperator::multiply: return multiply(state_, left, right);
    case BinaryOperator::divide: return divide(state_, left, right);
    case BinaryOperator::floor_divide: return floor_divide(state_, left, right);
    case BinaryOperator::modulo: return modulo(state_, left, right);
    default: return power(state_, left, right);
  }
}

Result<bool> Interpreter::compare(ComparisonOperator op, const Value& a, const Value& b) {
  switch (op) {
    case ComparisonOperator::equal: return equal(state_, a, b);
    case ComparisonOperator::not_equal: return !TRY(equal(state_, a, b));
    case ComparisonOperator::less: return less(state_, a, b);
    case ComparisonOperator::greater: return less(state_, b, a);
    case ComparisonOperator::less_equal: return TRY(less(state_, a, b)) || TRY(equal(state_, a, b));
    case ComparisonOperator::greater_equal: return TRY(less(state_, b, a)) || TRY(equal(state_, a, b));
    case ComparisonOperator::in: return contains(state_, b, a);
    default: return !TRY(contains(state_, b, a));
  }
}

Result<Value> Interpreter::on(const ComparisonExpression& e, const ScopePtr& scope) {
  Value left = TRY(evaluate(*e.first, scope));
  for (const auto& [op, syntax] : e.others) {
    Value right = TRY(evaluate(*syntax, scope));
    if (!TRY(compare(op, left, right))) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::on(const ConcatenationExpression& e, const ScopePtr& scope) {
  std::string out;
  for (const auto& part : e.parts) {
    const Value value = TRY(evaluate(*part, scope));
    out += TRY(text_of(state_, value));
  }
  return state_.admit(Value::text(std::move(out)));
}

Result<Value> Interpreter::on(const ConditionalExpression& e, const ScopePtr& scope) {
  if (is_true(TRY(evaluate(*e.condition, scope)))) return evaluate(*e.yes, scope);
  if (e.no) return evaluate(*e.no, scope);
  return Value::undefined("the condition of an expression without 'else' is false");
}

}  // namespace tenon::llm::jinja
