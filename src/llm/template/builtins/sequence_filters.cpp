// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "llm/template/builtins/container_methods.h"
#include "llm/template/builtins/filters.h"
#include "llm/template/builtins/lookup.h"
#include "llm/template/builtins/markup.h"
#include "llm/template/values/characters.h"
#include "llm/template/values/compare.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {
namespace {

Value generator(std::vector<Value> items) { return Value::sequence(Sequence{.kind = SequenceKind::generator, .items = std::move(items)}); }

Result<Value> first(RenderState& state, const Value& value, Bound&) {
  if (const Sequence* s = value.sequence(); s && s->is_iterator() && s->next < s->items.size()) return s->items[s->next++];
  const std::vector<Value> items = TRY(items_of(state, value));
  return items.empty() ? Value::undefined("No first item, sequence was empty.") : items.front();
}

Result<Value> last(RenderState& state, const Value& value, Bound&) {
  if (const Sequence* s = value.sequence(); s && s->is_iterator())
    return run_error("last: a generator cannot be read from its end").advice("add the filter 'list' before it");
  const std::vector<Value> items = TRY(items_of(state, value));
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Result<Value> length(RenderState&, const Value& value, Bound&) { return Value::integer(TRY(length_of(value))); }

Result<Value> list(RenderState& state, const Value& value, Bound&) { return Value::list(TRY(items_of(state, value))); }

Result<Value> join(RenderState& state, const Value& value, Bound& arguments) {
  const std::string separator = arguments[0].is_absent() ? "" : TRY(text_of(state, arguments[0]));
  const std::vector<Value> items = TRY(items_of(state, value));
  TRY(state.take(items.size(), separator.size()));
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += separator;
    const std::string part = TRY(text_of(state, TRY(item_at_path(state, items[i], arguments[1], Value()))));
    TRY(state.take(part.size()));
    out += part;
  }
  return Value::text(std::move(out));
}

Result<Value> items(RenderState&, const Value& value, Bound&) {
  if (value.is_undefined()) return generator({});
  const Dictionary* dictionary = value.dictionary();
  if (!dictionary) return run_error("items: the value is no dict").expected("dict").found(std::string(type_name(value)));
  return generator(view_of(*dictionary, SequenceKind::items).sequence()->items);
}

Result<Value> reverse(RenderState& state, const Value& value, Bound&) {
  if (const std::string* text = value.text()) {
    std::u32string characters = characters_of(*text);
    std::ranges::reverse(characters);
    return Value::text(text_of(characters), value.is_safe());
  }
  const Sequence* sequence = value.sequence();
  const bool becomes_list = sequence && sequence->is_iterator();
  std::vector<Value> out = TRY(items_of(state, value));
  std::ranges::reverse(out);
  if (becomes_list) return Value::list(std::move(out));
  return Value::sequence(Sequence{.kind = SequenceKind::reversed, .items = std::move(out)});
}

Result<Value> standard(RenderState&, const Value& value, Bound& arguments) {
  if (!value.is_undefined() && !(flag_argument(arguments[1], false) && !is_true(value))) return value;
  return arguments[0].is_absent() ? Value::text("") : arguments[0];
}

Result<Value> attr(RenderState& state, const Value& value, Bound& arguments) {
  const std::string name = TRY(text_argument(arguments[0], "name"));
  const bool is_item = value.dictionary() && !container_method(value, name);
  if (is_item) return Value::undefined("'dict object' has no attribute '" + name + "'");
  return attribute(state, value, name);
}

/// Lists of `count` items each; the last one filled up.
Result<Value> batch(RenderState& state, const Value& value, Bound& arguments) {
  const int64_t count = TRY(integer_argument(arguments[0], 1, "linecount"));
  const std::vector<Value> in = TRY(items_of(state, value));
  std::vector<Value> out, line;
  for (const Value& item : in) {
    if (static_cast<int64_t>(line.size()) == count) out.push_back(Value::list(std::exchange(line, {})));
    line.push_back(item);
  }
  const bool fills = !arguments[1].is_absent() && !arguments[1].is_none() && count > 0;
  if (!line.empty() && fills) {
    TRY(state.take(static_cast<uint64_t>(count), sizeof(Value)));
    while (static_cast<int64_t>(line.size()) < count) line.push_back(arguments[1]);
  }
  if (!line.empty()) out.push_back(Value::list(std::move(line)));
  return generator(std::move(out));
}

/// `count` lists of as equal lengths as possible; the shorter ones filled up.
Result<Value> slices(RenderState& state, const Value& value, Bound& arguments) {
  const int64_t count = TRY(integer_argument(arguments[0], 1, "slices"));
  const std::vector<Value> in = TRY(items_of(state, value));
  if (count == 0) return run_error("slice: the number of slices is 0");
  const bool fills = !arguments[1].is_absent() && !arguments[1].is_none();
  TRY(state.take(static_cast<uint64_t>(std::max<int64_t>(count, 0)), 4 * sizeof(Value)));
  std::vector<Value> out;
  size_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto n = static_cast<int64_t>(in.size());
    const bool is_longer = i < n % count;
    const auto size = static_cast<size_t>(n / count + (is_longer ? 1 : 0));
    std::vector<Value> part(in.begin() + static_cast<ptrdiff_t>(at), in.begin() + static_cast<ptrdiff_t>(at + size));
    at += size;
    if (fills && !is_longer) part.push_back(arguments[1]);
    out.push_back(Value::list(std::move(part)));
  }
  return generator(std::move(out));
}

constexpr Builtin kSequenceFilters[] = {
    {.name = "length", .parameters = "", .apply = length},
    {.name = "count", .parameters = "", .apply = length},
    {.name = "default", .parameters = "?default_value boolean", .apply = standard},
    {.name = "d", .parameters = "?default_value boolean", .apply = standard},
    {.name = "first", .parameters = "", .apply = first},
    {.name = "last", .parameters = "", .apply = last},
    {.name = "list", .parameters = "", .apply = list},
    {.name = "join", .parameters = "?d attribute", .apply = join},
    {.name = "items", .parameters = "", .apply = items},
    {.name = "reverse", .parameters = "", .apply = reverse},
    {.name = "attr", .parameters = "name", .apply = attr},
    {.name = "batch", .parameters = "linecount ?fill_with", .apply = batch},
    {.name = "slice", .parameters = "slices ?fill_with", .apply = slices},
};

}  // namespace

std::span<const Builtin> sequence_filters() { return kSequenceFilters; }

}  // namespace tenon::llm::jinja
