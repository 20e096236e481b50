// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/lookup.h"

#include <algorithm>
#include <optional>

#include "llm/template/builtins/container_methods.h"
#include "llm/template/builtins/markup.h"
#include "llm/template/builtins/text_methods.h"
#include "llm/template/values/characters.h"
#include "llm/template/values/loop.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {
namespace {

std::string object_name(const Value& object) { return object.is_none() ? "None" : std::string(type_name(object)) + " object"; }

Value missing_attribute(const Value& object, std::string_view name) {
  return Value::undefined("'" + object_name(object) + "' has no attribute '" + std::string(name) + "'");
}

Value method(const Value& object, const Builtin* builtin) {
  return function(std::string(builtin->name), "builtin_function_or_method",
                  [object, builtin](RenderState& state, Arguments arguments) { return (*builtin)(state, object, arguments); });
}

/// Python's attributes of the object: methods, fields of namespaces and loops. Absent where it has none of that name.
Result<Value> own_attribute(const Value& object, std::string_view name) {
  if (name.starts_with("__") && name.ends_with("__") && name.size() > 4)
    return Value::undefined("access to attribute '" + std::string(name) + "' of '" + std::string(type_name(object)) +
                            "' object is unsafe.");
  if (object.text()) {
    if (const Builtin* builtin = text_method(name)) return method(object, builtin);
    if (is_other_text_method(name)) return fail(Code::not_supported, "", "not supported yet: str." + std::string(name) + " in templates");
  }
  if (const Builtin* builtin = container_method(object, name)) return method(object, builtin);
  if (is_mutating_method(object, name))
    return Value::undefined("a template may not change a " + std::string(type_name(object)) + ": access to '" + std::string(name) +
                            "' is refused");
  if (const auto* space = object.as<std::shared_ptr<Namespace>>()) {
    const Value* value = (*space)->attributes.find(name);
    return value ? *value : Value();
  }
  if (const auto* called = object.as<std::shared_ptr<const Function>>()) {
    const Value* value = (*called)->attributes.find(name);
    return value ? *value : Value();
  }
  if (const auto* loop = object.as<std::shared_ptr<Loop>>()) {
    Value value = TRY((*loop)->attribute(name));
    return value.is_absent() ? loop_method(*loop, name) : value;
  }
  int64_t integer = 0;
  if (integer_of(object, integer) && (name == "real" || name == "numerator")) return Value::integer(integer);
  if (integer_of(object, integer) && (name == "imag" || name == "denominator")) return Value::integer(name == "imag" ? 0 : 1);
  if (const Sequence* s = object.sequence(); s && s->kind == SequenceKind::range) {
    if (name == "start" || name == "stop" || name == "step")
      return Value::integer(name == "start" ? s->start : name == "stop" ? s->stop : s->step);
  }
  return Value();
}

/// The item, or Absent.
Value own_item(const Value& object, const Value& key) {
  if (const Dictionary* dictionary = object.dictionary()) {
    const Value* value = is_hashable(key) ? dictionary->find(key) : nullptr;
    return value ? *value : Value();
  }
  int64_t index = 0;
  if (!integer_of(key, index)) return Value();
  if (const Sequence* sequence = object.sequence(); sequence && sequence->kind <= SequenceKind::range) {
    const auto length = static_cast<int64_t>(sequence->items.size());
    if (index < 0) index += length;
    return index >= 0 && index < length ? sequence->items[static_cast<size_t>(index)] : Value();
  }
  if (const std::string* text = object.text()) {
    const std::u32string characters = characters_of(*text);
    const auto length = static_cast<int64_t>(characters.size());
    if (index < 0) index += length;
    if (index >= 0 && index < length)
      return Value::text(text_of(std::u32string_view(&characters[static_cast<size_t>(index)], 1)), object.is_safe());
  }
  return Value();
}

}  // namespace

Result<Value> attribute(RenderState&, const Value& object, std::string_view name) {
  if (object.is_undefined()) return undefined_error(object);
  Value value = TRY(own_attribute(object, name));
  if (!value.is_absent()) return value;
  if (const Dictionary* dictionary = object.dictionary())
    if (const Value* found = dictionary->find(name)) return *found;
  return missing_attribute(object, name);
}

Result<Value> item(RenderState& state, const Value& object, const Value& key) {
  if (object.is_undefined()) return undefined_error(object);
  TRY(state.step(steps_of(object.text() ? object.text()->size() : 0)));
  Value value = own_item(object, key);
  if (!value.is_absent()) return value;
  if (const std::string* name = key.text()) {
    value = TRY(own_attribute(object, *name));
    return value.is_absent() ? missing_attribute(object, *name) : value;
  }
  return Value::undefined(object_name(object) + " has no element " + TRY(repr_of(state, key)));
}

namespace {

/// Python's slice.indices: the first index and the number of items.
struct Steps {
  int64_t begin = 0, end = 0, count = 0, step = 1;
};

Result<std::optional<int64_t>> slice_index(const Value& value) {
  if (value.is_absent() || value.is_none()) return std::optional<int64_t>();
  return std::optional<int64_t>(TRY(integer_argument(value, 0, "index of a slice")));
}

Result<Steps> steps_of(int64_t length, const Value& start, const Value& stop, const Value& step) {
  Steps out{.begin = 0, .end = 0, .count = 0, .step = TRY(slice_index(step)).value_or(1)};
  if (out.step == 0) return run_error("the step of a slice is 0");
  out.step = std::clamp<int64_t>(out.step, -(int64_t{1} << 40), int64_t{1} << 40);
  const bool down = out.step < 0;
  const int64_t lowest = down ? -1 : 0, highest = down ? length - 1 : length;
  const auto bounded = [&](std::optional<int64_t> index, int64_t otherwise) {
    if (!index) return otherwise;
    return std::clamp(*index < 0 ? *index + length : *index, lowest, highest);
  };
  out.begin = bounded(TRY(slice_index(start)), down ? length - 1 : 0);
  out.end = bounded(TRY(slice_index(stop)), down ? -1 : length);
  const int64_t distance = down ? out.begin - out.end : out.end - out.begin;
  const int64_t stride = down ? -out.step : out.step;
  out.count = distance > 0 ? (distance + stride - 1) / stride : 0;
  return out;
}

}  // namespace

Result<Value> slice(RenderState& state, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (object.is_undefined()) return undefined_error(object);
  if (const std::string* text = object.text()) {
    TRY(state.take(text->size(), sizeof(char32_t)));
    const std::u32string characters = characters_of(*text);
    const Steps steps = TRY(steps_of(static_cast<int64_t>(characters.size()), start, stop, step));
    std::u32string out;
    for (int64_t i = 0; i < steps.count; ++i) out += characters[static_cast<size_t>(steps.begin + i * steps.step)];
    return Value::text(text_of(out), object.is_safe());
  }
  const Sequence* sequence = object.sequence();
  if (!sequence || sequence->kind > SequenceKind::range)
    return run_error("the value has no slices").expected("a list or a text").found(std::string(type_name(object)));
  const Steps steps = TRY(steps_of(static_cast<int64_t>(sequence->items.size()), start, stop, step));
  TRY(state.take(static_cast<uint64_t>(steps.count), sizeof(Value)));
  Sequence out{.kind = sequence->kind, .items = {}};
  for (int64_t i = 0; i < steps.count; ++i) out.items.push_back(sequence->items[static_cast<size_t>(steps.begin + i * steps.step)]);
  if (out.kind == SequenceKind::range) {
    out.step = sequence->step * steps.step;
    out.start = sequence->start + steps.begin * sequence->step;
    out.stop = sequence->start + steps.end * sequence->step;
  }
  return Value::sequence(std::move(out));
}

Result<Value> item_at_path(RenderState& state, const Value& object, const Value& path, const Value& otherwise) {
  if (path.is_absent() || path.is_none()) return object;
  const std::string* text = path.text();
  Value out = object;
  const auto go = [&](const Value& key) -> Result<void> {
    out = TRY(item(state, out, key));
    if (out.is_undefined() && !otherwise.is_absent() && !otherwise.is_none()) out = otherwise;
    return {};
  };
  if (!text) {
    TRY(go(path));
    return out;
  }
  std::string_view rest = *text;
  for (bool more = true; more;) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view part = rest.substr(0, dot);
    more = dot < rest.size();
    rest.remove_prefix(more ? dot + 1 : dot);
    const bool is_index = !part.empty() && part.size() < 18 && part.find_first_not_of("0123456789") == std::string_view::npos;
    TRY(go(is_index ? Value::integer(std::stoll(std::string(part))) : Value::text(std::string(part))));
  }
  return out;
}

}  // namespace tenon::llm::jinja
