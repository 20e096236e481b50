// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "llm/template/builtins/container_methods.h"
#include "llm/template/builtins/filters.h"
#include "llm/template/builtins/lookup.h"
#include "llm/template/builtins/operators.h"
#include "llm/template/values/characters.h"
#include "llm/template/values/compare.h"
#include "llm/template/values/merge_sort.h"

namespace tenon::llm::jinja {
namespace {

/// A key of an order: texts in lower case where case does not count.
Value folded(const Value& value, bool case_sensitive) {
  if (case_sensitive || !value.text()) return value;
  return Value::text(lower_of(*value.text()));
}

Result<Value> key_of(RenderState& state, const Value& item, const Value& attribute, bool case_sensitive) {
  return folded(TRY(item_at_path(state, item, attribute, Value())), case_sensitive);
}

/// The keys of an item for an attribute such as 'a,b.c', in a list: equal ones need no order, as undefined values have none.
Result<Value> keys_of(RenderState& state, const Value& item, const Value& attribute, bool case_sensitive) {
  const std::string* text = attribute.text();
  std::vector<Value> keys;
  if (!text) {
    keys.push_back(TRY(key_of(state, item, attribute, case_sensitive)));
    return Value::list(std::move(keys));
  }
  for (size_t begin = 0; begin <= text->size();) {
    const size_t end = std::min(text->find(',', begin), text->size());
    keys.push_back(TRY(key_of(state, item, Value::text(text->substr(begin, end - begin)), case_sensitive)));
    begin = end + 1;
  }
  return Value::list(std::move(keys));
}

/// `items` in the stable order of `keys`.
Result<std::vector<Value>> sorted(RenderState& state, const std::vector<Value>& items, const std::vector<Value>& keys, bool reverse) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  TRY(merge_sort(order, [&](size_t a, size_t b) { return reverse ? less(state, keys[b], keys[a]) : less(state, keys[a], keys[b]); }));
  std::vector<Value> out;
  for (const size_t i : order) out.push_back(items[i]);
  return out;
}

Result<Value> sort(RenderState& state, const Value& value, Bound& arguments) {
  const std::vector<Value> items = TRY(items_of(state, value));
  std::vector<Value> keys;
  for (const Value& item : items) keys.push_back(TRY(keys_of(state, item, arguments[2], flag_argument(arguments[1], false))));
  return Value::list(TRY(sorted(state, items, keys, flag_argument(arguments[0], false))));
}

Result<Value> sort_dictionary(RenderState& state, const Value& value, Bound& arguments) {
  const Dictionary* dictionary = value.dictionary();
  if (value.is_undefined()) return undefined_error(value);
  if (!dictionary) return run_error("dictsort: the value is no dict").expected("dict").found(std::string(type_name(value)));
  const std::string by = arguments[1].is_absent() ? "key" : TRY(text_argument(arguments[1], "by"));
  if (by != "key" && by != "value") return run_error("dictsort: 'by' is wrong").expected("key or value").found("'" + by + "'");
  std::vector<Value> keys;
  for (const auto& entry : dictionary->entries())
    keys.push_back(folded(by == "key" ? entry.first : entry.second, flag_argument(arguments[0], false)));
  const Value items = view_of(*dictionary, SequenceKind::items);
  return Value::list(TRY(sorted(state, items.sequence()->items, keys, flag_argument(arguments[2], false))));
}

Result<Value> unique(RenderState& state, const Value& value, Bound& arguments) {
  Sequence out{.kind = SequenceKind::generator, .items = {}};
  Dictionary seen;
  for (const Value& item : TRY(items_of(state, value))) {
    const Value key = TRY(key_of(state, item, arguments[1], flag_argument(arguments[0], false)));
    if (!is_hashable(key)) return run_error("unique: a value is not hashable").found(std::string(type_name(key)));
    if (!key.text()) TRY(state.step(seen.entries().size()));
    if (seen.find(key)) continue;
    seen.set(key, Value::none());
    out.items.push_back(item);
  }
  return Value::sequence(std::move(out));
}

template <bool kMaximum>
Result<Value> extreme(RenderState& state, const Value& value, Bound& arguments) {
  const std::vector<Value> items = TRY(items_of(state, value));
  if (items.empty()) return Value::undefined("No aggregated item, sequence was empty.");
  const auto key = [&](const Value& item) { return key_of(state, item, arguments[1], flag_argument(arguments[0], false)); };
  size_t best = 0;
  Value best_key = TRY(key(items[0]));
  for (size_t i = 1; i < items.size(); ++i) {
    Value other = TRY(key(items[i]));
    if (!TRY(kMaximum ? less(state, best_key, other) : less(state, other, best_key))) continue;
    best = i;
    best_key = std::move(other);
  }
  return items[best];
}

Result<Value> sum(RenderState& state, const Value& value, Bound& arguments) {
  Value total = arguments[1].is_absent() ? Value::integer(0) : arguments[1];
  for (const Value& item : TRY(items_of(state, value)))
    total = TRY(add(state, total, TRY(item_at_path(state, item, arguments[0], Value()))));
  return total;
}

constexpr Builtin kOrderFilters[] = {
    {.name = "sort", .parameters = "?reverse case_sensitive attribute", .apply = sort},
    {.name = "dictsort", .parameters = "?case_sensitive by reverse", .apply = sort_dictionary},
    {.name = "unique", .parameters = "?case_sensitive attribute", .apply = unique},
    {.name = "min", .parameters = "?case_sensitive attribute", .apply = extreme<false>},
    {.name = "max", .parameters = "?case_sensitive attribute", .apply = extreme<true>},
    {.name = "sum", .parameters = "?attribute start", .apply = sum},
};

}  // namespace

std::span<const Builtin> order_filters() { return kOrderFilters; }

}  // namespace tenon::llm::jinja
