// SPDX-License-Identifier: Apache-2.0
#include "llm/template/run/interpreter.h"

#include <algorithm>

namespace tenon::llm::jinja {

Interpreter::Interpreter(const Syntax& syntax, RenderState& state) : syntax_(syntax), state_(state) {
  const auto index = [&](std::string_view name) -> std::optional<NameIndex> {
    const auto at = std::ranges::find(syntax.names, name);
    if (at == syntax.names.end()) return std::nullopt;
    return static_cast<NameIndex>(at - syntax.names.begin());
  };
  loop_ = index("loop");
  caller_ = index("caller");
  varargs_ = index("varargs");
  kwargs_ = index("kwargs");
}

Interpreter::~Interpreter() {
  for (const ScopePtr& scope : captured_) scope->clear();
  for (const auto& space : state_.namespaces) space->attributes = {};
}

Result<std::string> Interpreter::run(ScopePtr variables) {
  std::string text;
  TRY(capture(syntax_.body, std::make_shared<Scope>(std::move(variables)), text));
  return text;
}

Result<void> Interpreter::enter() {
  TRY(state_.step());
  if (state_.depth < kDeepest) return {};
  return fail(Code::limit_exceeded, "", "the template calls itself too deeply").expected("at most " + std::to_string(kDeepest) + " levels");
}

}  // namespace tenon::llm::jinja
