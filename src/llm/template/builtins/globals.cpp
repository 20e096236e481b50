// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/globals.h"

#include "llm/template/builtins/builtin.h"
#include "llm/template/values/compare.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {
namespace {

constexpr int64_t kLongestRange = 100'000;  // Jinja2's sandbox has this limit

Result<Value> range(RenderState& state, Arguments arguments) {
  Bound bound = TRY(bind("range", "start ?stop step", arguments));
  const bool has_stop = !bound[1].is_absent();
  Sequence out{.kind = SequenceKind::range, .items = {}};
  out.start = has_stop ? TRY(integer_argument(bound[0], 0, "start")) : 0;
  out.stop = TRY(integer_argument(has_stop ? bound[1] : bound[0], 0, "stop"));
  out.step = TRY(integer_argument(bound[2], 1, "step"));
  if (out.step == 0) return run_error("range: the step is 0");
  for (__int128 i = out.start; out.step > 0 ? i < out.stop : i > out.stop; i += out.step) {
    if (out.items.size() == static_cast<size_t>(kLongestRange))
      return fail(Code::limit_exceeded, "", "range: too many items").expected("at most " + std::to_string(kLongestRange)).found("more");
    out.items.push_back(Value::integer(static_cast<int64_t>(i)));
  }
  return state.admit(Value::sequence(std::move(out)));
}

/// Python's dict(other, name=value).
Result<Dictionary> dictionary_of(RenderState& state, Arguments& arguments) {
  Dictionary out;
  if (arguments.positional.size() > 1)
    return run_error("dict: too many arguments").expected("at most 1").found(std::to_string(arguments.positional.size()));
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional[0];
    if (const Dictionary* dictionary = from.dictionary()) {
      out = *dictionary;
    } else {
      for (const Value& pair : TRY(items_of(state, from))) {
        const std::vector<Value> parts = TRY(items_of(state, pair));
        if (parts.size() != 2 || !is_hashable(parts[0])) return run_error("dict: an item is no pair of a key and a value");
        if (!parts[0].text()) TRY(state.step(out.entries().size()));
        out.set(parts[0], parts[1]);
      }
    }
  }
  for (auto& [name, value] : arguments.named) out.set(Value::text(name), std::move(value));
  return out;
}

Result<Value> dict(RenderState& state, Arguments arguments) { return state.admit(Value::dictionary(TRY(dictionary_of(state, arguments)))); }

Result<Value> from_keys(RenderState& state, Arguments arguments) {
  Bound bound = TRY(bind("fromkeys", "iterable ?value", arguments));
  Dictionary out;
  for (const Value& key : TRY(items_of(state, bound[0]))) {
    if (!is_hashable(key)) return run_error("fromkeys: a value is not hashable").found(std::string(type_name(key)));
    if (!key.text()) TRY(state.step(out.entries().size()));
    out.set(key, bound[1].is_absent() ? Value::none() : bound[1]);
  }
  return state.admit(Value::dictionary(std::move(out)));
}

Result<Value> make_namespace(RenderState& state, Arguments arguments) {
  auto out = std::make_shared<Namespace>(Namespace{TRY(dictionary_of(state, arguments))});
  TRY(state.take(sizeof(Namespace) + out->attributes.entries().size() * sizeof(Value)));
  for (const auto& [key, value] : out->attributes.entries())
    if (key.text() && key.text()->starts_with('_'))
      return run_error("a namespace's names may not begin with '_'").found("'" + *key.text() + "'");
  state.namespaces.push_back(out);
  return Value(Value::Kinds(std::move(out)));
}

Result<Value> raise_exception(RenderState& state, Arguments arguments) {
  Bound bound = TRY(bind("raise_exception", "message", arguments));
  return run_error("the template refuses the conversation: " + TRY(text_of(state, bound[0])));
}

Result<Value> time_now(RenderState& state, Arguments arguments) {
  Bound bound = TRY(bind("strftime_now", "format", arguments));
  const std::string format = TRY(text_argument(bound[0], "format"));
  if (format.size() > 1000)
    return fail(Code::limit_exceeded, "", "strftime_now: the format is too long").found(std::to_string(format.size()));
  const std::time_t now = state.now ? *state.now : std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::string out(format.size() * 64 + 64, '\0');
  out.resize(std::strftime(out.data(), out.size(), format.c_str(), &local));
  return state.admit(Value::text(std::move(out)));
}

}  // namespace

Result<Value> global(std::string_view name) {
  if (name == "range") return function("range", "function", range);
  if (name == "namespace") return function("namespace", "type", make_namespace);
  if (name == "raise_exception") return function("raise_exception", "function", raise_exception);
  if (name == "strftime_now") return function("strftime_now", "function", time_now);
  if (name == "dict") {
    Function out{.name = "dict", .type = "TemplateDict", .call = dict, .attributes = {}};
    out.attributes.set(Value::text("fromkeys"), function("fromkeys", "method", from_keys));
    return Value(Value::Kinds(std::make_shared<const Function>(std::move(out))));
  }
  if (name == "self") return Value::dictionary({});  // the template's blocks, of which there are none
  if (name == "cycler" || name == "joiner" || name == "lipsum")
    return fail(Code::not_supported, "", "not supported yet: '" + std::string(name) + "' in templates");
  return Value();
}

}  // namespace tenon::llm::jinja
