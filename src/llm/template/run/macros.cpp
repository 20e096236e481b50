// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "llm/template/builtins/builtin.h"
#include "llm/template/run/interpreter.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {

Value Interpreter::macro_value(const std::shared_ptr<const MacroSyntax>& macro, const ScopePtr& scope) {
  captured_.push_back(scope);
  Function out{.name = macro->name, .type = "Macro", .call = nullptr, .attributes = {}};
  out.call = [this, macro, scope](RenderState&, Arguments arguments) { return invoke(*macro, scope, std::move(arguments)); };
  std::vector<Value> names;
  for (const std::string& name : macro->names) names.push_back(Value::text(name));
  out.attributes.set(Value::text("name"), Value::text(macro->name));
  out.attributes.set(Value::text("arguments"), Value::tuple(std::move(names)));
  out.attributes.set(Value::text("catch_kwargs"), Value::boolean(macro->uses_kwargs));
  out.attributes.set(Value::text("catch_varargs"), Value::boolean(macro->uses_varargs));
  out.attributes.set(Value::text("caller"), Value::boolean(macro->uses_caller));
  return Value(Value::Kinds(std::make_shared<const Function>(std::move(out))));
}

/// Binds parameters to positional arguments, then to named ones, then to default values, which may use earlier parameters.
Result<void> Interpreter::bind_parameters(const MacroSyntax& macro, const ScopePtr& scope, Arguments& arguments) {
  const size_t given = std::min(arguments.positional.size(), macro.parameters.size());
  std::vector<bool> is_bound(macro.parameters.size(), false);
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    Value value;
    if (i < given) {
      value = arguments.positional[i];
    } else if (const auto at = std::ranges::find(arguments.named, macro.names[i], &std::pair<std::string, Value>::first);
               at != arguments.named.end()) {
      value = std::move(at->second);
      arguments.named.erase(at);
    }
    is_bound[i] = !value.is_absent();
    scope->set(macro.parameters[i].name,
               is_bound[i] ? std::move(value) : Value::undefined("parameter '" + macro.names[i] + "' was not provided"));
  }
  arguments.positional.erase(arguments.positional.begin(), arguments.positional.begin() + static_cast<ptrdiff_t>(given));
  for (size_t i = 0; i < macro.parameters.size(); ++i)
    if (!is_bound[i] && macro.parameters[i].standard)
      scope->set(macro.parameters[i].name, TRY(evaluate(*macro.parameters[i].standard, scope)));
  return {};
}

/// caller, varargs and kwargs, where the macro uses them.
Result<void> Interpreter::bind_extras(const MacroSyntax& macro, Scope& scope, Arguments& arguments) {
  const bool has_caller_parameter = std::ranges::find(macro.names, "caller") != macro.names.end();
  if (macro.uses_caller && !has_caller_parameter) {
    const auto at = std::ranges::find(arguments.named, "caller", &std::pair<std::string, Value>::first);
    const bool found = at != arguments.named.end();
    scope.set(*caller_, found ? at->second : Value::undefined("No caller defined"));
    if (found) arguments.named.erase(at);
  }
  if (macro.uses_kwargs) {
    Dictionary kwargs;
    for (auto& [name, value] : arguments.named) kwargs.set(Value::text(name), std::move(value));
    scope.set(*kwargs_, TRY(state_.admit(Value::dictionary(std::move(kwargs)))));
  } else if (!arguments.named.empty()) {
    return run_error("macro '" + macro.name + "': unknown argument").found("'" + arguments.named[0].first + "'");
  }
  if (macro.uses_varargs) {
    scope.set(*varargs_, TRY(state_.admit(Value::tuple(std::move(arguments.positional)))));
  } else if (!arguments.positional.empty()) {
    return run_error("macro '" + macro.name + "': too many arguments")
        .expected("at most " + std::to_string(macro.parameters.size()))
        .found(std::to_string(macro.parameters.size() + arguments.positional.size()));
  }
  return {};
}

Result<Value> Interpreter::invoke(const MacroSyntax& macro, const ScopePtr& around, Arguments arguments) {
  const ScopePtr scope = std::make_shared<Scope>(around);
  TRY(bind_parameters(macro, scope, arguments));
  TRY(bind_extras(macro, *scope, arguments));
  std::string text;
  TRY(capture(macro.body, scope, text));
  return state_.admit(Value::text(std::move(text)));
}

Result<Interpreter::Flow> Interpreter::on(const MacroStatement& s, const ScopePtr& scope) {
  TRY(state_.take(sizeof(Function) + sizeof(Scope)));
  scope->set(s.name, macro_value(s.macro, scope));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::on(const CallStatement& s, const ScopePtr& scope) {
  TRY(state_.take(sizeof(Function) + sizeof(Scope)));
  const auto& e = std::get<CallExpression>(s.call->kind);
  const Value callee = TRY(evaluate(*e.callee, scope));
  Arguments arguments = TRY(arguments_of(e.call, scope));
  arguments.named.emplace_back("caller", macro_value(s.caller, scope));
  TRY(write(TRY(call(callee, std::move(arguments)))));
  return Flow::next;
}

}  // namespace tenon::llm::jinja
