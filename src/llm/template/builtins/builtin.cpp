// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/builtin.h"

#include <algorithm>

namespace tenon::llm::jinja {
namespace {

struct Parameters {
  std::array<std::string_view, std::tuple_size_v<Bound>> names;
  size_t count = 0, required = 0;
};

Parameters parameters_of(std::string_view text) {
  Parameters out;
  bool optional = false;
  while (!text.empty()) {
    if (text[0] == '?') {
      optional = true;
      text.remove_prefix(1);
    }
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) {
      out.names[out.count++] = text.substr(0, end);
      out.required += optional ? 0 : 1;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

Result<Bound> bind(std::string_view callee, std::string_view text, Arguments& arguments) {
  const Parameters parameters = parameters_of(text);
  const std::string name(callee);
  Bound out;
  if (arguments.positional.size() > parameters.count)
    return run_error(name + ": too many arguments")
        .expected("at most " + std::to_string(parameters.count))
        .found(std::to_string(arguments.positional.size()));
  std::ranges::move(arguments.positional, out.begin());
  for (auto& [key, value] : arguments.named) {
    const auto names = std::span(parameters.names).first(parameters.count);
    const auto at = std::ranges::find(names, key);
    if (at == names.end()) return run_error(name + ": unknown argument").expected(std::string(text)).found("'" + key + "'");
    Value& slot = out[static_cast<size_t>(at - names.begin())];
    if (!slot.is_absent()) return run_error(name + ": an argument is passed twice").found("'" + key + "'");
    slot = std::move(value);
  }
  for (size_t i = 0; i < parameters.required; ++i)
    if (out[i].is_absent()) return run_error(name + ": an argument is missing").expected("'" + std::string(parameters.names[i]) + "'");
  return out;
}

Result<Value> Builtin::operator()(RenderState& state, const Value& self, Arguments& arguments) const {
  TRY(state.step(steps_of(self.text() ? self.text()->size() : 0)));
  if (apply_raw) return apply_raw(state, self, arguments);
  Bound bound = TRY(bind(name, parameters, arguments));
  return state.admit(TRY(apply(state, self, bound)));
}

const Builtin* find_builtin(std::span<const Builtin> table, std::string_view name) {
  const auto at = std::ranges::find(table, name, &Builtin::name);
  return at == table.end() ? nullptr : &*at;
}

Result<int64_t> integer_argument(const Value& value, int64_t otherwise, std::string_view name) {
  if (value.is_absent() || value.is_none()) return otherwise;
  int64_t out = 0;
  if (value.is_undefined()) return undefined_error(value);
  if (!integer_of(value, out))
    return run_error("'" + std::string(name) + "' is not an int").expected("int").found(std::string(type_name(value)));
  return out;
}

Result<std::string> text_argument(const Value& value, std::string_view name) {
  if (const std::string* text = value.text()) return *text;
  if (value.is_undefined()) return undefined_error(value);
  return run_error("'" + std::string(name) + "' is not a text").expected("str").found(std::string(type_name(value)));
}

bool flag_argument(const Value& value, bool otherwise) { return value.is_absent() ? otherwise : is_true(value); }

Value function(std::string name, std::string type, std::function<Result<Value>(RenderState&, Arguments)> call) {
  return Value(Value::Kinds(std::make_shared<const Function>(Function{std::move(name), std::move(type), std::move(call), {}})));
}

}  // namespace tenon::llm::jinja
