// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/container_methods.h"

#include <algorithm>

#include "llm/template/values/compare.h"

namespace tenon::llm::jinja {
namespace {

Result<Value> get(RenderState&, const Value& self, Bound& arguments) {
  if (!is_hashable(arguments[0])) return run_error("get: the key is not hashable").found(std::string(type_name(arguments[0])));
  if (const Value* value = self.dictionary()->find(arguments[0])) return *value;
  return arguments[1].is_absent() ? Value::none() : arguments[1];
}

template <SequenceKind kKind>
Result<Value> view(RenderState&, const Value& self, Bound&) {
  return view_of(*self.dictionary(), kKind);
}

Result<Value> copy(RenderState&, const Value& self, Bound&) { return self; }  // values do not change

Result<Value> count(RenderState& state, const Value& self, Bound& arguments) {
  int64_t found = 0;
  for (const Value& item : self.sequence()->items) found += TRY(equal(state, item, arguments[0])) ? 1 : 0;
  return Value::integer(found);
}

Result<Value> index(RenderState& state, const Value& self, Bound& arguments) {
  const auto& items = self.sequence()->items;
  const auto length = static_cast<int64_t>(items.size());
  const auto from_end = [&](int64_t i) { return i < 0 ? std::max<int64_t>(i + length, 0) : i; };
  const int64_t begin = from_end(TRY(integer_argument(arguments[1], 0, "start")));
  const int64_t end = std::min(from_end(TRY(integer_argument(arguments[2], length, "stop"))), length);
  for (int64_t i = begin; i < end; ++i)
    if (TRY(equal(state, items[static_cast<size_t>(i)], arguments[0]))) return Value::integer(i);
  return run_error("index: the value is not in the list");
}

constexpr Builtin kOfDict[] = {
    {.name = "get", .parameters = "key ?default", .apply = get},
    {.name = "items", .parameters = "", .apply = view<SequenceKind::items>},
    {.name = "keys", .parameters = "", .apply = view<SequenceKind::keys>},
    {.name = "values", .parameters = "", .apply = view<SequenceKind::values>},
    {.name = "copy", .parameters = "", .apply = copy},
};
constexpr Builtin kOfSequence[] = {
    {.name = "count", .parameters = "value", .apply = count},
    {.name = "index", .parameters = "value ?start stop", .apply = index},
    {.name = "copy", .parameters = "", .apply = copy},  // of lists alone; see below
};

}  // namespace

Value view_of(const Dictionary& dictionary, SequenceKind kind) {
  Sequence out{.kind = kind, .items = {}};
  out.items.reserve(dictionary.entries().size());
  for (const auto& [key, value] : dictionary.entries())
    out.items.push_back(kind == SequenceKind::keys ? key : kind == SequenceKind::values ? value : Value::tuple({key, value}));
  return Value::sequence(std::move(out));
}

const Builtin* container_method(const Value& container, std::string_view name) {
  if (container.dictionary()) return find_builtin(kOfDict, name);
  const Sequence* sequence = container.sequence();
  if (!sequence || sequence->kind > SequenceKind::range) return nullptr;
  if (name == "copy" && sequence->kind != SequenceKind::list) return nullptr;
  return find_builtin(kOfSequence, name);
}

bool is_mutating_method(const Value& container, std::string_view name) {
  constexpr std::string_view kOfDicts[] = {"clear", "pop", "popitem", "setdefault", "update"};
  constexpr std::string_view kOfLists[] = {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};
  if (container.dictionary()) return std::ranges::find(kOfDicts, name) != std::end(kOfDicts);
  const Sequence* sequence = container.sequence();
  return sequence && sequence->kind == SequenceKind::list && std::ranges::find(kOfLists, name) != std::end(kOfLists);
}

}  // namespace tenon::llm::jinja
