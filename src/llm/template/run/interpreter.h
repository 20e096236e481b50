// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "llm/template/run/scope.h"
#include "llm/template/values/loop.h"
#include "llm/template/values/render_state.h"

namespace tenon::llm::jinja {

/// Renders a syntax tree once. Errors have the place LINE:COLUMN of the innermost expression.
class Interpreter {
 public:
  Interpreter(const Syntax& syntax, RenderState& state);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// The text of the template; variables: the context.
  Result<std::string> run(ScopePtr variables);

 private:
  /// The deepest nesting of evaluations, which bounds the stack.
  static constexpr int kDeepest = 1200;
  /// How execution continues after a statement.
  enum class Flow : uint8_t { next, leaves_loop, next_iteration };

  // Expressions.
  Result<Value> evaluate(const Expression& e, const ScopePtr& scope);
  Result<Value> on(const ConstantExpression& e, const ScopePtr& scope);
  Result<Value> on(const NameExpression& e, const ScopePtr& scope);
  Result<Value> on(const ListExpression& e, const ScopePtr& scope);
  Result<Value> on(const DictExpression& e, const ScopePtr& scope);
  Result<Value> on(const AttributeExpression& e, const ScopePtr& scope);
  Result<Value> on(const ItemExpression& e, const ScopePtr& scope);
  Result<Value> on(const SliceExpression& e, const ScopePtr& scope);
  Result<Value> on(const CallExpression& e, const ScopePtr& scope);
  Result<Value> on(const FilterExpression& e, const ScopePtr& scope);
  Result<Value> on(const TestExpression& e, const ScopePtr& scope);
  Result<Value> on(const UnaryExpression& e, const ScopePtr& scope);
  Result<Value> on(const BinaryExpression& e, const ScopePtr& scope);
  Result<Value> on(const ComparisonExpression& e, const ScopePtr& scope);
  Result<Value> on(const ConcatenationExpression& e, const ScopePtr& scope);
  Result<Value> on(const ConditionalExpression& e, const ScopePtr& scope);
  Result<Value> optional(const ExpressionPtr& e, const ScopePtr& scope);
  Result<Arguments> arguments_of(const CallSyntax& call, const ScopePtr& scope);
  Result<Value> call(const Value& callee, Arguments arguments);
  Result<bool> compare(ComparisonOperator op, const Value& a, const Value& b);
  Result<Value> filtered(const Expression* filter, std::string text, const ScopePtr& scope);

  // Statements.
  Result<Flow> execute(const Block& block, const ScopePtr& scope);
  Result<Flow> execute(const Statement& s, const ScopePtr& scope);
  Result<Flow> on(const DataStatement& s, const ScopePtr& scope);
  Result<Flow> on(const PrintStatement& s, const ScopePtr& scope);
  Result<Flow> on(const IfStatement& s, const ScopePtr& scope);
  Result<Flow> on(const ForStatement& s, const ScopePtr& scope);
  Result<Flow> on(const SetStatement& s, const ScopePtr& scope);
  Result<Flow> on(const SetBlockStatement& s, const ScopePtr& scope);
  Result<Flow> on(const MacroStatement& s, const ScopePtr& scope);
  Result<Flow> on(const CallStatement& s, const ScopePtr& scope);
  Result<Flow> on(const FilterStatement& s, const ScopePtr& scope);
  Result<Flow> on(const WithStatement& s, const ScopePtr& scope);
  Result<Flow> on(const BreakStatement&, const ScopePtr&) { return Flow::leaves_loop; }
  Result<Flow> on(const ContinueStatement&, const ScopePtr&) { return Flow::next_iteration; }
  Loop::Source source_of(const ForStatement& s, std::vector<Value> items, const ScopePtr& scope);
  Result<void> assign(const Target& target, const Value& value, const ScopePtr& scope);
  Result<void> write(const Value& value);
  /// Executes the block with its output in `text`.
  Result<Flow> capture(const Block& block, const ScopePtr& scope, std::string& text);

  // Macros.
  Value macro_value(const std::shared_ptr<const MacroSyntax>& macro, const ScopePtr& scope);
  Result<Value> invoke(const MacroSyntax& macro, const ScopePtr& around, Arguments arguments);
  Result<void> bind_parameters(const MacroSyntax& macro, const ScopePtr& scope, Arguments& arguments);
  Result<void> bind_extras(const MacroSyntax& macro, Scope& scope, Arguments& arguments);

  Result<void> enter();

  const Syntax& syntax_;
  RenderState& state_;
  std::string* out_ = nullptr;      ///< the output that statements append to
  std::vector<ScopePtr> captured_;  ///< scopes captured by macros; cleared at the end, because a scope may hold its own macro (a cycle)
  std::optional<NameIndex> loop_, caller_, varargs_, kwargs_;  ///< names of special variables, where the template uses them
};

}  // namespace tenon::llm::jinja
