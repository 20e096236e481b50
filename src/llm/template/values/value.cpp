// SPDX-License-Identifier: Apache-2.0
#include "llm/template/values/value.h"

#include <algorithm>

#include "llm/template/values/compare.h"
#include "llm/template/values/loop.h"

namespace tenon::llm::jinja {
namespace {

int height_of_items(const std::vector<Value>& items) {
  int height = 0;
  for (const Value& item : items) height = std::max(height, height_of(item));
  return height + 1;
}

}  // namespace

Value Value::undefined(std::string reason) { return Value(Kinds(Undefined{std::make_shared<const std::string>(std::move(reason))})); }

Value Value::text(std::string value, bool safe) { return Value(Kinds(Text{std::make_shared<const std::string>(std::move(value)), safe})); }

Value Value::list(std::vector<Value> items) { return sequence(Sequence{.kind = SequenceKind::list, .items = std::move(items)}); }
Value Value::tuple(std::vector<Value> items) { return sequence(Sequence{.kind = SequenceKind::tuple, .items = std::move(items)}); }

Value Value::sequence(Sequence sequence) {
  sequence.height = height_of_items(sequence.items);
  sequence.hashable = sequence.kind == SequenceKind::tuple ? std::ranges::all_of(sequence.items, is_hashable)
                                                           : sequence.kind != SequenceKind::list && sequence.kind != SequenceKind::keys &&
                                                                 sequence.kind != SequenceKind::items;
  return Value(Kinds(std::make_shared<const Sequence>(std::move(sequence))));
}

Value Value::dictionary(Dictionary dictionary) { return Value(Kinds(std::make_shared<const Dictionary>(std::move(dictionary)))); }

const std::string* Value::text() const {
  const auto* text = as<Text>();
  return text ? text->bytes.get() : nullptr;
}

bool Value::is_safe() const {
  const auto* text = as<Text>();
  return text && text->safe;
}

const Sequence* Value::sequence() const {
  const auto* sequence = as<std::shared_ptr<const Sequence>>();
  return sequence ? sequence->get() : nullptr;
}

const Dictionary* Value::dictionary() const {
  const auto* dictionary = as<std::shared_ptr<const Dictionary>>();
  return dictionary ? dictionary->get() : nullptr;
}

const size_t* Dictionary::index_of(std::string_view key) const {
  const auto at = index_of_.find(key);
  return at == index_of_.end() ? nullptr : &at->second;
}

const Value* Dictionary::find(std::string_view key) const {
  const size_t* at = index_of(key);
  return at ? &entries_[*at].second : nullptr;
}

size_t Dictionary::position(const Value& key) const {
  if (const std::string* text = key.text()) {
    const size_t* at = index_of(*text);
    return at ? *at : entries_.size();
  }
  const auto is_same = [&](const Entry& entry) { return !entry.first.text() && are_equal(entry.first, key); };
  return static_cast<size_t>(std::ranges::find_if(entries_, is_same) - entries_.begin());
}

const Value* Dictionary::find(const Value& key) const {
  const size_t at = position(key);
  return at == entries_.size() ? nullptr : &entries_[at].second;
}

void Dictionary::set(Value key, Value value) {
  height_ = std::max({height_, height_of(value) + 1, height_of(key) + 1});
  const size_t at = position(key);
  if (at < entries_.size()) {
    entries_[at].second = std::move(value);
    return;
  }
  entries_.emplace_back(std::move(key), std::move(value));
  if (const std::string* text = entries_.back().first.text()) index_of_.emplace(*text, at);
}

int height_of(const Value& value) {
  if (const Sequence* sequence = value.sequence()) return sequence->height;
  if (const Dictionary* dictionary = value.dictionary()) return dictionary->height();
  return 0;
}

std::string_view type_name(const Value& value) {
  constexpr std::string_view kSequences[] = {"list",        "tuple",      "range",     "dict_keys",
                                             "dict_values", "dict_items", "generator", "list_reverseiterator"};
  if (const Sequence* sequence = value.sequence()) return kSequences[static_cast<size_t>(sequence->kind)];
  if (const auto* function = value.as<std::shared_ptr<const Function>>()) return (*function)->type;
  if (const auto* text = value.as<Text>()) return text->safe ? "Markup" : "str";
  constexpr std::string_view kNames[] = {"absent", "Undefined", "NoneType", "bool",      "int",      "float",
                                         "str",    "list",      "dict",     "Namespace", "function", "LoopContext"};
  return kNames[value.kinds().index()];
}

bool is_true(const Value& value) {
  if (const bool* boolean = value.as<bool>()) return *boolean;
  if (const int64_t* integer = value.as<int64_t>()) return *integer != 0;
  if (const double* floating = value.as<double>()) return *floating != 0;
  if (const std::string* text = value.text()) return !text->empty();
  if (const Sequence* sequence = value.sequence()) return sequence->is_iterator() || !sequence->items.empty();
  if (const Dictionary* dictionary = value.dictionary()) return !dictionary->entries().empty();
  return !(value.is_undefined() || value.is_none() || value.is_absent());
}

bool is_number(const Value& value) { return value.is<bool>() || value.is<int64_t>() || value.is<double>(); }

double number_of(const Value& value) {
  if (const double* floating = value.as<double>()) return *floating;
  int64_t integer = 0;
  integer_of(value, integer);
  return static_cast<double>(integer);
}

bool integer_of(const Value& value, int64_t& out) {
  if (const int64_t* integer = value.as<int64_t>()) {
    out = *integer;
  } else if (const bool* boolean = value.as<bool>()) {
    out = *boolean ? 1 : 0;
  } else {
    return false;
  }
  return true;
}

bool is_hashable(const Value& value) {
  const Sequence* sequence = value.sequence();
  return sequence ? sequence->hashable : value.dictionary() == nullptr;
}

Error run_error(std::string what) { return fail(Code::bad_input, "", std::move(what)); }

Error undefined_error(const Value& value) {
  const auto* undefined = value.as<Undefined>();
  return run_error(undefined && undefined->reason ? *undefined->reason : "the value is undefined");
}

}  // namespace tenon::llm::jinja
