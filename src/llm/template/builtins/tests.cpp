// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/tests.h"

#include <algorithm>
#include <vector>

#include "base/nearest.h"
#include "llm/template/builtins/filters.h"
#include "llm/template/builtins/operators.h"
#include "llm/template/builtins/text_methods.h"
#include "llm/template/values/compare.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {
namespace {

using Values = Bound;
using Answer = Result<Value>;

Answer yes(bool value) { return Value::boolean(value); }

bool is_sequence(const Value& value) {
  const Sequence* s = value.sequence();
  return value.text() || value.dictionary() || value.is_undefined() || (s && s->kind <= SequenceKind::range);
}

bool is_mapping(const Value& value) { return value.dictionary() != nullptr; }

/// Python's `is`, for values of which there is one: none, bools, small ints, and the same list or dict.
bool is_same(const Value& a, const Value& b) {
  if (a.kinds().index() != b.kinds().index()) return false;
  if (const int64_t *x = a.integer(), *y = b.integer(); x && y) return *x == *y;
  if (a.is_none()) return true;
  if (const bool* x = a.as<bool>()) return *x == *b.as<bool>();
  if (const Sequence* x = a.sequence()) return x == b.sequence();
  if (const Dictionary* x = a.dictionary()) return x == b.dictionary();
  if (const std::string* x = a.text()) return x == b.text();
  return are_equal(a, b);
}

Answer remainder_is(RenderState& state, const Value& value, int64_t divisor, int64_t remainder) {
  return yes(TRY(equal(state, TRY(modulo(state, value, Value::integer(divisor))), Value::integer(remainder))));
}

Answer has_case(RenderState& state, const Value& value, std::string_view method) {
  Arguments none;
  return (*text_method(method))(state, Value::text(TRY(text_of(state, value))), none);
}

template <bool kSwapped>
Answer compare(RenderState& state, const Value& value, Values& v) {
  return yes(TRY(kSwapped ? less(state, v[0], value) : less(state, value, v[0])));
}

/// a <= b and a >= b, with neither for NaN.
template <bool kGreater>
Answer compare_or_equal(RenderState& state, const Value& value, Values& v) {
  if (TRY(kGreater ? less(state, v[0], value) : less(state, value, v[0]))) return yes(true);
  return yes(TRY(equal(state, value, v[0])));
}

constexpr Builtin kTests[] = {
    {.name = "defined", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(!x.is_undefined()); }},
    {.name = "undefined", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(x.is_undefined()); }},
    {.name = "none", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(x.is_none()); }},
    {.name = "boolean", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(x.is<bool>()); }},
    {.name = "true", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(x.is<bool>() && is_true(x)); }},
    {.name = "false", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(x.is<bool>() && !is_true(x)); }},
    {.name = "integer", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(x.is<int64_t>()); }},
    {.name = "float", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(x.is<double>()); }},
    {.name = "number", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(is_number(x)); }},
    {.name = "string", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(x.text() != nullptr); }},
    {.name = "mapping", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(is_mapping(x)); }},
    {.name = "sequence", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(is_sequence(x)); }},
    {.name = "iterable", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(is_iterable(x)); }},
    {.name = "callable",
     .parameters = "",
     .apply = [](RenderState&, const Value& x, Values&) { return yes(x.is_undefined() || x.is<std::shared_ptr<const Function>>()); }},
    {.name = "escaped", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(x.is_safe()); }},
    {.name = "sameas", .parameters = "other", .apply = [](RenderState&, const Value& x, Values& v) { return yes(is_same(x, v[0])); }},
    {.name = "odd", .parameters = "", .apply = [](RenderState& s, const Value& x, Values&) { return remainder_is(s, x, 2, 1); }},
    {.name = "even", .parameters = "", .apply = [](RenderState& s, const Value& x, Values&) { return remainder_is(s, x, 2, 0); }},
    {.name = "divisibleby",
     .parameters = "num",
     .apply = [](RenderState& s, const Value& x, Values& v) -> Answer {
       return yes(TRY(equal(s, TRY(modulo(s, x, v[0])), Value::integer(0))));
     }},
    {.name = "lower", .parameters = "", .apply = [](RenderState& s, const Value& x, Values&) { return has_case(s, x, "islower"); }},
    {.name = "upper", .parameters = "", .apply = [](RenderState& s, const Value& x, Values&) { return has_case(s, x, "isupper"); }},
    {.name = "filter",
     .parameters = "",
     .apply = [](RenderState&, const Value& x, Values&) { return yes(x.text() && is_filter(*x.text())); }},
    {.name = "test", .parameters = "", .apply = [](RenderState&, const Value& x, Values&) { return yes(x.text() && is_test(*x.text())); }},
    {.name = "in",
     .parameters = "seq",
     .apply = [](RenderState& s, const Value& x, Values& v) -> Answer { return yes(TRY(contains(s, v[0], x))); }},
    {.name = "eq",
     .parameters = "other",
     .apply = [](RenderState& s, const Value& x, Values& v) -> Answer { return yes(TRY(equal(s, x, v[0]))); }},
    {.name = "ne",
     .parameters = "other",
     .apply = [](RenderState& s, const Value& x, Values& v) -> Answer { return yes(!TRY(equal(s, x, v[0]))); }},
    {.name = "lt", .parameters = "other", .apply = compare<false>},
    {.name = "gt", .parameters = "other", .apply = compare<true>},
    {.name = "le", .parameters = "other", .apply = compare_or_equal<false>},
    {.name = "ge", .parameters = "other", .apply = compare_or_equal<true>},
};

std::string_view without_alias(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kAliases[] = {{"equalto", "eq"},  {"==", "eq"},          {"!=", "ne"},
                                                                        {">", "gt"},        {"greaterthan", "gt"}, {"<", "lt"},
                                                                        {"lessthan", "lt"}, {"<=", "le"},          {">=", "ge"}};
  for (const auto& [alias, test] : kAliases)
    if (alias == name) return test;
  return name;
}

}  // namespace

bool is_test(std::string_view name) { return find_builtin(kTests, without_alias(name)) != nullptr; }

std::string nearest_test(std::string_view name) {
  std::vector<std::string_view> names{"equalto"};
  for (const Builtin& test : kTests) names.push_back(test.name);
  return did_you_mean(name, names);
}

Result<bool> apply_test(RenderState& state, std::string_view name, const Value& value, Arguments arguments) {
  const Builtin* test = find_builtin(kTests, without_alias(name));
  if (!test) return run_error("unknown test").found("'" + std::string(name) + "'").advice(nearest_test(name));
  return is_true(TRY((*test)(state, value, arguments)));
}

}  // namespace tenon::llm::jinja
