// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/filters.h"
#include "llm/template/run/interpreter.h"
#include "llm/template/values/compare.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {

Result<Interpreter::Flow> Interpreter::execute(const Block& block, const ScopePtr& scope) {
  for (const Statement& statement : block)
    if (const Flow flow = TRY(execute(statement, scope)); flow != Flow::next) return flow;
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::execute(const Statement& s, const ScopePtr& scope) {
  const auto place = [&] { return std::to_string(s.at.line) + ":" + std::to_string(s.at.column); };
  if (auto entered = enter(); !entered) return std::move(entered.error()).at(place());
  ++state_.depth;
  Result<Flow> out = std::visit([&](const auto& kind) { return on(kind, scope); }, s.kind);
  --state_.depth;
  if (!out) return std::move(out.error()).at(place());
  return out;
}

Result<void> Interpreter::write(const Value& value) {
  const std::string* text = value.text();
  if (text) {
    *out_ += *text;
  } else {
    *out_ += TRY(text_of(state_, value));
  }
  if (out_->size() <= state_.limits.output) return {};
  return fail(Code::limit_exceeded, "", "the template's output grows without bound")
      .expected("at most " + std::to_string(state_.limits.output) + " bytes")
      .found("more");
}

Result<Interpreter::Flow> Interpreter::capture(const Block& block, const ScopePtr& scope, std::string& text) {
  std::string* const around = std::exchange(out_, &text);
  auto flow = execute(block, scope);
  out_ = around;
  return flow;
}

Result<Interpreter::Flow> Interpreter::on(const DataStatement& s, const ScopePtr&) {
  *out_ += s.text;
  TRY(write(Value::text("")));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::on(const PrintStatement& s, const ScopePtr& scope) {
  TRY(write(TRY(evaluate(*s.value, scope))));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::on(const IfStatement& s, const ScopePtr& scope) {
  for (const auto& [condition, body] : s.branches)
    if (is_true(TRY(evaluate(*condition, scope)))) return execute(body, scope);
  return execute(s.otherwise, scope);
}

Loop::Source Interpreter::source_of(const ForStatement& s, std::vector<Value> items, const ScopePtr& scope) {
  return [this, &s, items = std::move(items), scope, at = size_t{0}]() mutable -> Result<std::optional<Value>> {
    while (at < items.size()) {
      Value& item = items[at++];
      if (!s.condition) return std::move(item);
      const ScopePtr tested = std::make_shared<Scope>(scope);
      TRY(assign(s.target, item, tested));
      if (is_true(TRY(evaluate(*s.condition, tested)))) return std::move(item);
    }
    return std::nullopt;
  };
}

Result<Interpreter::Flow> Interpreter::on(const ForStatement& s, const ScopePtr& scope) {
  std::vector<Value> items = TRY(items_of(state_, TRY(evaluate(*s.items, scope))));
  const auto count = s.condition ? std::nullopt : std::optional<int64_t>(static_cast<int64_t>(items.size()));
  const auto loop = std::make_shared<Loop>(source_of(s, std::move(items), scope), count, 0);
  struct Close {
    Loop& loop;
    ~Close() { loop.close(); }
  } close{*loop};
  while (TRY(loop->advance())) {
    const ScopePtr iteration = std::make_shared<Scope>(scope);
    if (loop_) iteration->set(*loop_, Value(Value::Kinds(loop)));
    TRY(assign(s.target, loop->current(), iteration));
    TRY(state_.step());
    if (TRY(execute(s.body, iteration)) == Flow::leaves_loop) break;
  }
  if (loop->index0() >= 0) return Flow::next;
  return execute(s.otherwise, std::make_shared<Scope>(scope));
}

Result<void> Interpreter::assign(const Target& target, const Value& value, const ScopePtr& scope) {
  if (target.is_tuple) {
    const std::vector<Value> items = TRY(items_of(state_, value));
    if (items.size() != target.targets.size())
      return run_error("the number of values does not fit the names")
          .expected(std::to_string(target.targets.size()))
          .found(std::to_string(items.size()));
    for (size_t i = 0; i < items.size(); ++i) TRY(assign(target.targets[i], items[i], scope));
    return {};
  }
  if (target.attribute.empty()) {
    scope->set(target.name, value);
    return {};
  }
  const Value* object = scope->find(target.name);
  const auto* space = object ? object->as<std::shared_ptr<Namespace>>() : nullptr;
  if (!space)
    return run_error("an attribute is assigned to what is no namespace")
        .expected("namespace")
        .found("'" + syntax_.names[target.name] + "': " + (object ? std::string(type_name(*object)) : "undefined"));
  if (target.attribute.starts_with('_')) return run_error("a namespace's names may not begin with '_'").found("'" + target.attribute + "'");
  TRY(state_.take(sizeof(Value)));
  (*space)->attributes.set(Value::text(target.attribute), value);
  return {};
}

Result<Interpreter::Flow> Interpreter::on(const SetStatement& s, const ScopePtr& scope) {
  const Value value = TRY(evaluate(*s.value, scope));
  TRY(assign(s.target, value, scope));
  return Flow::next;
}

/// The text through a filter, whose innermost input is empty in the syntax tree; null: the text itself.
Result<Value> Interpreter::filtered(const Expression* filter, std::string text, const ScopePtr& scope) {
  if (!filter) return state_.admit(Value::text(std::move(text)));
  const auto& e = std::get<FilterExpression>(filter->kind);
  const Value input = TRY(filtered(e.input.get(), std::move(text), scope));
  return apply_filter(state_, e.name, input, TRY(arguments_of(e.call, scope)));
}

Result<Interpreter::Flow> Interpreter::on(const SetBlockStatement& s, const ScopePtr& scope) {
  std::string text;
  const ScopePtr inside = std::make_shared<Scope>(scope);
  if (const Flow flow = TRY(capture(s.body, inside, text)); flow != Flow::next) return flow;
  const Value value = TRY(filtered(s.filter.get(), std::move(text), inside));
  TRY(assign(s.target, value, scope));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::on(const FilterStatement& s, const ScopePtr& scope) {
  std::string text;
  const ScopePtr inside = std::make_shared<Scope>(scope);
  if (const Flow flow = TRY(capture(s.body, inside, text)); flow != Flow::next) return flow;
  TRY(write(TRY(filtered(s.filter.get(), std::move(text), inside))));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::on(const WithStatement& s, const ScopePtr& scope) {
  const ScopePtr inside = std::make_shared<Scope>(scope);
  for (const auto& [target, value] : s.variables) TRY(assign(target, TRY(evaluate(*value, scope)), inside));
  return execute(s.body, inside);
}

}  // namespace tenon::llm::jinja
