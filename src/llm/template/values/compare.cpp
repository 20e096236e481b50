// SPDX-License-Identifier: Apache-2.0
#include "llm/template/values/compare.h"

#include <algorithm>
#include <cmath>

#include "llm/template/values/characters.h"
#include "llm/template/values/loop.h"
#include "llm/text/find_substring.h"

namespace tenon::llm::jinja {
namespace {

/// Comparisons that may still be made.
struct Remaining {
  uint64_t count;
  bool use(uint64_t n = 1) {
    count = count > n ? count - n : 0;
    return count > 0;
  }
};

bool same(const Value& a, const Value& b, Remaining& remaining);

bool same_numbers(const Value& a, const Value& b) {
  int64_t x = 0, y = 0;
  if (integer_of(a, x) && integer_of(b, y)) return x == y;
  return number_of(a) == number_of(b);
}

bool same_sequences(const Sequence& a, const Sequence& b, Remaining& remaining) {
  if (&a == &b) return true;
  const bool comparable = a.kind == b.kind && !a.is_iterator() && a.kind != SequenceKind::values;
  if (!comparable || a.items.size() != b.items.size()) return false;
  return std::ranges::equal(a.items, b.items, [&](const Value& x, const Value& y) { return same(x, y, remaining); });
}

bool same_dictionaries(const Dictionary& a, const Dictionary& b, Remaining& remaining) {
  if (&a == &b) return true;
  if (a.entries().size() != b.entries().size()) return false;
  return std::ranges::all_of(a.entries(), [&](const Dictionary::Entry& entry) {
    const Value* other = b.find(entry.first);
    return other && same(entry.second, *other, remaining);
  });
}

bool same(const Value& a, const Value& b, Remaining& remaining) {
  if (!remaining.use()) return false;
  if (const std::string *x = a.text(), *y = b.text(); x && y) {
    remaining.use(x->size() == y->size() ? x->size() / 64 : 0);
    return *x == *y;
  }
  if (is_number(a) && is_number(b)) return same_numbers(a, b);
  if (a.kinds().index() != b.kinds().index()) return false;
  if (a.is_none() || a.is_undefined()) return true;
  if (const Sequence* x = a.sequence()) return same_sequences(*x, *b.sequence(), remaining);
  if (const Dictionary* x = a.dictionary()) return same_dictionaries(*x, *b.dictionary(), remaining);
  if (const auto* x = a.as<std::shared_ptr<Namespace>>()) return *x == *b.as<std::shared_ptr<Namespace>>();
  if (const auto* x = a.as<std::shared_ptr<const Function>>()) return *x == *b.as<std::shared_ptr<const Function>>();
  return false;
}

Result<bool> less_sequences(RenderState& state, const Sequence& a, const Sequence& b) {
  const size_t count = std::min(a.items.size(), b.items.size());
  for (size_t i = 0; i < count; ++i)
    if (!TRY(equal(state, a.items[i], b.items[i]))) return less(state, a.items[i], b.items[i]);
  return a.items.size() < b.items.size();
}

Error not_iterable(const Value& value) {
  return run_error("the value is not iterable").expected("a list, text, dict, ...").found(std::string(type_name(value)));
}

std::vector<Value> characters(std::string_view text) {
  std::vector<Value> out;
  while (!text.empty()) {
    const std::string_view before = text;
    take_character(text);
    out.push_back(Value::text(std::string(before.substr(0, before.size() - text.size()))));
  }
  return out;
}

}  // namespace

bool are_equal(const Value& a, const Value& b) {
  Remaining remaining{1'000'000};
  return same(a, b, remaining);
}

Result<bool> equal(RenderState& state, const Value& a, const Value& b) {
  const uint64_t most = state.limits.steps > state.steps ? state.limits.steps - state.steps + 1 : 1;
  Remaining remaining{most};
  const bool result = same(a, b, remaining);
  TRY(state.step(most - remaining.count));
  return result;
}

Result<bool> less(RenderState& state, const Value& a, const Value& b) {
  TRY(state.step());
  if (a.is_undefined() || b.is_undefined()) return undefined_error(a.is_undefined() ? a : b);
  if (const std::string *x = a.text(), *y = b.text(); x && y) {
    TRY(state.step(std::min(x->size(), y->size()) / 64));
    return *x < *y;  // the order of UTF-8 is that of code points
  }
  if (is_number(a) && is_number(b)) {
    int64_t x = 0, y = 0;
    if (integer_of(a, x) && integer_of(b, y)) return x < y;
    return number_of(a) < number_of(b);
  }
  const Sequence *x = a.sequence(), *y = b.sequence();
  if (x && y && x->kind == y->kind && (x->kind == SequenceKind::list || x->kind == SequenceKind::tuple))
    return less_sequences(state, *x, *y);
  return run_error("values without an order are compared")
      .expected("numbers, texts, or lists of them")
      .found(std::string(type_name(a)) + " and " + std::string(type_name(b)));
}

Result<bool> contains(RenderState& state, const Value& container, const Value& item) {
  if (const std::string* text = container.text()) {
    const std::string* part = item.text();
    if (!part && item.is_undefined()) return undefined_error(item);
    if (!part) return run_error("'in' of a text needs a text").expected("str").found(std::string(type_name(item)));
    TRY(state.step(text->size() / 64));
    return find_substring(*text, *part) != std::string_view::npos;
  }
  if (const Dictionary* dictionary = container.dictionary()) {
    if (!is_hashable(item)) return run_error("the value cannot be a key").expected("a hashable value").found(std::string(type_name(item)));
    if (!item.text()) TRY(state.step(dictionary->entries().size()));
    return dictionary->find(item) != nullptr;
  }
  if (const Sequence* sequence = container.sequence(); sequence && !sequence->is_iterator()) {
    for (const Value& other : sequence->items)
      if (TRY(equal(state, other, item))) return true;
    return false;
  }
  for (const Value& other : TRY(items_of(state, container)))
    if (TRY(equal(state, other, item))) return true;
  return false;
}

Result<std::vector<Value>> items_of(RenderState& state, const Value& value) {
  if (const Sequence* sequence = value.sequence()) {
    TRY(state.take(sequence->items.size(), sizeof(Value)));
    std::vector<Value> items(sequence->items.begin() + static_cast<ptrdiff_t>(sequence->next), sequence->items.end());
    if (sequence->is_iterator()) sequence->next = sequence->items.size();
    return items;
  }
  if (const Dictionary* dictionary = value.dictionary()) {
    TRY(state.take(dictionary->entries().size(), sizeof(Value)));
    std::vector<Value> keys;
    keys.reserve(dictionary->entries().size());
    for (const auto& entry : dictionary->entries()) keys.push_back(entry.first);
    return keys;
  }
  if (const std::string* text = value.text()) {
    TRY(state.take(text->size(), 4 * sizeof(Value)));
    return characters(*text);
  }
  if (value.is_undefined()) return std::vector<Value>{};
  return not_iterable(value);
}

bool is_iterable(const Value& value) { return value.sequence() || value.dictionary() || value.text() || value.is_undefined(); }

Result<int64_t> length_of(const Value& value) {
  if (const std::string* text = value.text()) return static_cast<int64_t>(character_count(*text));
  if (const Sequence* sequence = value.sequence(); sequence && !sequence->is_iterator())
    return static_cast<int64_t>(sequence->items.size());
  if (const Dictionary* dictionary = value.dictionary()) return static_cast<int64_t>(dictionary->entries().size());
  if (const auto* loop = value.as<std::shared_ptr<Loop>>()) return (*loop)->length();
  if (value.is_undefined()) return 0;
  return run_error("the value has no length").expected("a list, text, dict, ...").found(std::string(type_name(value)));
}

}  // namespace tenon::llm::jinja
