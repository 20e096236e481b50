// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "llm/template/builtins/markup.h"
#include "llm/template/builtins/text_cases.h"
#include "llm/template/builtins/text_methods.h"
#include "llm/template/values/characters.h"
#include "llm/text/find_substring.h"

namespace tenon::llm::jinja {
namespace {

/// The byte at which the character `index` begins.
size_t byte_of(std::string_view text, int64_t index) {
  std::string_view rest = text;
  for (; index > 0 && !rest.empty(); --index) take_character(rest);
  return text.size() - rest.size();
}

/// A part of a text by optional indices, and the character at which it begins.
struct Range {
  std::string_view text;
  int64_t begin = 0;
  bool exists = true;  ///< false: the start lies beyond the end, where not even "" is found
};

Result<Range> range_of(std::string_view text, const Value& start, const Value& stop) {
  const auto length = static_cast<int64_t>(character_count(text));
  const auto index = [&](int64_t i) { return i < 0 ? std::max<int64_t>(i + length, 0) : i; };
  const int64_t from = index(TRY(integer_argument(start, 0, "start")));
  const int64_t to = std::min(index(TRY(integer_argument(stop, length, "end"))), length);
  if (from > to) return Range{"", from, false};
  const size_t begin = byte_of(text, from);
  return Range{text.substr(begin, byte_of(text.substr(begin), to - from)), from, true};
}

Result<std::string> part_of(const Value& value) { return text_argument(value, "sub"); }

template <bool kFromRight, bool kMustExist>
Result<Value> find(RenderState&, const Value& self, Bound& arguments) {
  const std::string part = TRY(part_of(arguments[0]));
  const Range range = TRY(range_of(*self.text(), arguments[1], arguments[2]));
  const size_t at = !range.exists ? std::string_view::npos
                    : kFromRight  ? find_last_substring(range.text, part)
                                  : find_substring(range.text, part);
  if (at != std::string_view::npos) return Value::integer(range.begin + static_cast<int64_t>(character_count(range.text.substr(0, at))));
  if (kMustExist) return run_error("the text does not have the part").expected("'" + part + "'");
  return Value::integer(-1);
}

Result<Value> count_method(RenderState&, const Value& self, Bound& arguments) {
  const std::string part = TRY(part_of(arguments[0]));
  const Range range = TRY(range_of(*self.text(), arguments[1], arguments[2]));
  return Value::integer(range.exists ? static_cast<int64_t>(occurrences(range.text, part)) : 0);
}

/// str.startswith and endswith: one text, or a tuple of them.
template <bool kAtEnd>
Result<Value> has_part(RenderState&, const Value& self, Bound& arguments) {
  const Range range = TRY(range_of(*self.text(), arguments[1], arguments[2]));
  const auto has = [&](const std::string& part) {
    return range.exists && (kAtEnd ? range.text.ends_with(part) : range.text.starts_with(part));
  };
  const Sequence* parts = arguments[0].sequence();
  if (!parts || parts->kind != SequenceKind::tuple) return Value::boolean(has(TRY(text_argument(arguments[0], "prefix"))));
  for (const Value& part : parts->items)
    if (has(TRY(text_argument(part, "prefix")))) return Value::boolean(true);
  return Value::boolean(false);
}

/// An argument as a text, escaped where the text that it is put into is safe.
Result<std::string> inserted(RenderState& state, const Value& self, const Value& value, std::string_view name) {
  std::string text = TRY(text_argument(value, name));
  if (!self.is_safe()) return text;
  return escaped_text_of(state, value);
}

Result<Value> replace_method(RenderState& state, const Value& self, Bound& arguments) {
  const std::string from = TRY(text_argument(arguments[0], "old")), to = TRY(inserted(state, self, arguments[1], "new"));
  const int64_t most = TRY(integer_argument(arguments[2], -1, "count"));
  TRY(state.take(occurrences(*self.text(), from), to.size()));
  return Value::text(replaced(*self.text(), from, to, most), self.is_safe());
}

Result<Value> remove_prefix(RenderState&, const Value& self, Bound& arguments) {
  const std::string part = TRY(text_argument(arguments[0], "prefix"));
  return Value::text(self.text()->starts_with(part) ? self.text()->substr(part.size()) : *self.text(), self.is_safe());
}

Result<Value> remove_suffix(RenderState&, const Value& self, Bound& arguments) {
  const std::string part = TRY(text_argument(arguments[0], "suffix"));
  const bool has = self.text()->ends_with(part);
  return Value::text(self.text()->substr(0, self.text()->size() - (has ? part.size() : 0)), self.is_safe());
}

constexpr Builtin kSearchMethods[] = {
    {.name = "find", .parameters = "sub ?start end", .apply = find<false, false>},
    {.name = "rfind", .parameters = "sub ?start end", .apply = find<true, false>},
    {.name = "index", .parameters = "sub ?start end", .apply = find<false, true>},
    {.name = "rindex", .parameters = "sub ?start end", .apply = find<true, true>},
    {.name = "count", .parameters = "sub ?start end", .apply = count_method},
    {.name = "startswith", .parameters = "prefix ?start end", .apply = has_part<false>},
    {.name = "endswith", .parameters = "suffix ?start end", .apply = has_part<true>},
    {.name = "replace", .parameters = "old new ?count", .apply = replace_method},
    {.name = "removeprefix", .parameters = "prefix", .apply = remove_prefix},
    {.name = "removesuffix", .parameters = "suffix", .apply = remove_suffix},
};

}  // namespace

std::span<const Builtin> search_methods() { return kSearchMethods; }

}  // namespace tenon::llm::jinja
