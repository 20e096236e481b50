// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "llm/template/builtins/filters.h"
#include "llm/template/builtins/lookup.h"
#include "llm/template/builtins/tests.h"
#include "llm/template/values/compare.h"

namespace tenon::llm::jinja {
namespace {

Result<Value> generator(RenderState& state, std::vector<Value> items) {
  return state.admit(Value::sequence(Sequence{.kind = SequenceKind::generator, .items = std::move(items)}));
}

Result<Value> map_attribute(RenderState& state, const Value& value, Arguments& arguments) {
  Bound bound = TRY(bind("map", "attribute ?default", arguments));
  std::vector<Value> out;
  for (const Value& item : TRY(items_of(state, value))) out.push_back(TRY(item_at_path(state, item, bound[0], bound[1])));
  return generator(state, std::move(out));
}

Result<Value> map(RenderState& state, const Value& value, Arguments& arguments) {
  if (!is_true(value)) return generator(state, {});
  const bool by_attribute = std::ranges::any_of(arguments.named, [](const auto& named) { return named.first == "attribute"; });
  if (arguments.positional.empty() && by_attribute) return map_attribute(state, value, arguments);
  if (arguments.positional.empty()) return run_error("map: the name of a filter is missing");
  const std::string name = TRY(text_argument(arguments.positional[0], "filter"));
  arguments.positional.erase(arguments.positional.begin());
  std::vector<Value> out;
  for (const Value& item : TRY(items_of(state, value))) out.push_back(TRY(apply_filter(state, name, item, arguments)));
  return generator(state, std::move(out));
}

/// The items, or those with an attribute, which pass a test: the first argument after the attribute.
template <bool kByAttribute, bool kRejects>
Result<Value> select(RenderState& state, const Value& value, Arguments& arguments) {
  if (!is_true(value)) return generator(state, {});
  Value attribute, test;
  auto& positional = arguments.positional;
  for (Value* slot : {kByAttribute ? &attribute : nullptr, &test}) {
    if (!slot || positional.empty()) continue;
    *slot = positional.front();
    positional.erase(positional.begin());
  }
  if (kByAttribute && attribute.is_absent()) return run_error("selectattr: the name of an attribute is missing");
  const std::string name = test.is_absent() ? "" : TRY(text_argument(test, "test"));
  std::vector<Value> out;
  for (const Value& item : TRY(items_of(state, value))) {
    const Value tested = TRY(item_at_path(state, item, attribute, Value()));
    const bool passes = test.is_absent() ? is_true(tested) : TRY(apply_test(state, name, tested, arguments));
    if (passes != kRejects) out.push_back(item);
  }
  return generator(state, std::move(out));
}

constexpr Builtin kSelectionFilters[] = {
    {.name = "map", .parameters = "*", .apply_raw = map},
    {.name = "select", .parameters = "*", .apply_raw = select<false, false>},
    {.name = "reject", .parameters = "*", .apply_raw = select<false, true>},
    {.name = "selectattr", .parameters = "*", .apply_raw = select<true, false>},
    {.name = "rejectattr", .parameters = "*", .apply_raw = select<true, true>},
};

}  // namespace

std::span<const Builtin> selection_filters() { return kSelectionFilters; }

}  // namespace tenon::llm::jinja
