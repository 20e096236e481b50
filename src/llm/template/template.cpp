// SPDX-License-Identifier: Apache-2.0
#include "llm/template/template.h"

#include "llm/template/run/interpreter.h"

namespace tenon::llm {

namespace jinja {
namespace {

using Json = nlohmann::ordered_json;

Result<Value> value_of(RenderState& state, const Json& json, int depth) {
  if (depth > kHighestValue)
    return fail(Code::limit_exceeded, "", "a value of the context is nested too deeply")
        .expected("at most " + std::to_string(kHighestValue) + " levels");
  switch (json.type()) {
    case Json::value_t::null: return Value::none();
    case Json::value_t::boolean: return Value::boolean(json.get<bool>());
    case Json::value_t::number_integer: return Value::integer(json.get<int64_t>());
    case Json::value_t::number_unsigned:
      if (json.get<uint64_t>() > uint64_t{INT64_MAX})
        return fail(Code::not_supported, "", "not supported yet: integers beyond 63 bits").found(std::to_string(json.get<uint64_t>()));
      return Value::integer(json.get<int64_t>());
    case Json::value_t::number_float: return Value::floating(json.get<double>());
    case Json::value_t::string: return state.admit(Value::text(json.get_ref<const std::string&>()));
    case Json::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const Json& item : json) items.push_back(TRY(value_of(state, item, depth + 1)));
      return state.admit(Value::list(std::move(items)));
    }
    case Json::value_t::object: {
      Dictionary out;
      for (const auto& [key, item] : json.items()) out.set(Value::text(key), TRY(value_of(state, item, depth + 1)));
      return state.admit(Value::dictionary(std::move(out)));
    }
    default: return fail(Code::bad_input, "", "a value of the context is of no type of JSON");
  }
}

/// The variables of the context that the template names.
Result<ScopePtr> variables_of(RenderState& state, const Syntax& syntax, const Json& context) {
  auto out = std::make_shared<Scope>();
  for (NameIndex i = 0; i < syntax.names.size(); ++i) {
    const auto at = context.find(syntax.names[i]);
    if (at == context.end()) continue;
    auto value = value_of(state, *at, 0);
    if (!value) return std::move(value.error()).at("'" + syntax.names[i] + "'");
    out->set(i, std::move(*value));
  }
  return out;
}

}  // namespace
}  // namespace jinja

struct Template::Parts {
  jinja::Syntax syntax;
  std::string name;
};

Template::Template(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

Result<Template> Template::parse(std::string_view text, std::string name) {
  auto syntax = jinja::parse(text);
  if (!syntax) {
    std::string place = name + ":" + syntax.error()->place;
    return std::move(syntax.error()).placed_at(std::move(place));
  }
  return Template(std::make_unique<const Parts>(Parts{std::move(*syntax), std::move(name)}));
}

Result<std::string> Template::render(const nlohmann::ordered_json& context, const Options& options) const {
  if (!context.is_object())
    return fail(Code::bad_input, parts_->name, "the context of a template is no object").expected("object").found(context.type_name());
  jinja::RenderState state{.limits = options.limits, .now = options.now, .namespaces = {}};
  auto variables = jinja::variables_of(state, parts_->syntax, context);
  if (!variables) return std::unexpected(std::move(variables).error());
  auto text = jinja::Interpreter(parts_->syntax, state).run(std::move(*variables));
  if (text) return text;
  std::string place = parts_->name + ":" + text.error()->place;
  return std::move(text.error()).placed_at(std::move(place));
}

}  // namespace tenon::llm
