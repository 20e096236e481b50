// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "llm/template/builtins/markup.h"
#include "llm/template/builtins/text_cases.h"
#include "llm/template/builtins/text_methods.h"
#include "llm/template/values/characters.h"
#include "llm/template/values/compare.h"
#include "llm/text/find_substring.h"

namespace tenon::llm::jinja {
namespace {

using Parts = std::vector<std::string_view>;

/// The bytes of the white space at the front.
size_t space_at_front(std::string_view text) { return text.size() - stripped(text, Ends::left).size(); }

/// The byte at which the first, or the last, run of white space begins; npos where there is none.
size_t find_space(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t at = text.size() - rest.size();
    if (is_space(take_character(rest))) return at;
  }
  return std::string_view::npos;
}

Parts split_at_space(std::string_view text, size_t most) {
  Parts out;
  text = stripped(text, Ends::left);
  while (!text.empty()) {
    const size_t end = out.size() < most ? find_space(text) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out.push_back(text);
      return out;
    }
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(space_at_front(text));
  }
  return out;
}

Parts split_at_space_from_right(std::string_view text, size_t most) {
  Parts out = split_at_space(text, SIZE_MAX);
  if (out.size() <= most) return out;
  const std::string_view last_of_rest = out[out.size() - most - 1];
  out.erase(out.begin(), out.end() - static_cast<ptrdiff_t>(most));
  out.insert(out.begin(), std::string_view(text.data(), static_cast<size_t>(last_of_rest.data() + last_of_rest.size() - text.data())));
  return out;
}

Parts split_at(std::string_view text, std::string_view separator, size_t most) {
  Parts out;
  for (size_t at = find_substring(text, separator); at != std::string_view::npos && out.size() < most;
       at = find_substring(text, separator)) {
    out.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  out.push_back(text);
  return out;
}

/// The parts of the text from right to left are those of both reversed from left to right.
Parts split_at_from_right(std::string_view text, std::string_view separator, size_t most) {
  const std::string backwards(text.rbegin(), text.rend());
  Parts out = split_at(backwards, std::string(separator.rbegin(), separator.rend()), most);
  std::ranges::reverse(out);
  for (std::string_view& part : out)
    part = text.substr(backwards.size() - static_cast<size_t>(part.data() - backwards.data()) - part.size(), part.size());
  return out;
}

Value texts(const Value& self, const Parts& parts) {
  std::vector<Value> out;
  out.reserve(parts.size());
  for (const std::string_view part : parts) out.push_back(Value::text(std::string(part), self.is_safe()));
  return Value::list(std::move(out));
}

/// Counts the memory of that many parts, before they are made. Errors: limit_exceeded.
Result<void> take_parts(RenderState& state, size_t count) { return state.take(count, 4 * sizeof(Value)); }

template <bool kFromRight>
Result<Value> split(RenderState& state, const Value& self, Bound& arguments) {
  const int64_t limit = TRY(integer_argument(arguments[1], -1, "maxsplit"));
  const size_t most = limit < 0 ? SIZE_MAX : static_cast<size_t>(limit);
  TRY(state.take(self.text()->size(), 2));
  if (arguments[0].is_absent() || arguments[0].is_none()) {
    TRY(take_parts(state, std::min(most, self.text()->size() / 2)));
    return texts(self, kFromRight ? split_at_space_from_right(*self.text(), most) : split_at_space(*self.text(), most));
  }
  const std::string separator = TRY(text_argument(arguments[0], "sep"));
  if (separator.empty()) return run_error("'sep' is empty");
  TRY(take_parts(state, std::min(most, occurrences(*self.text(), separator))));
  return texts(self, kFromRight ? split_at_from_right(*self.text(), separator, most) : split_at(*self.text(), separator, most));
}

Result<Value> split_lines(RenderState& state, const Value& self, Bound& arguments) {
  TRY(take_parts(state, self.text()->size()));
  return texts(self, lines_of(*self.text(), flag_argument(arguments[0], false)));
}

template <bool kFromRight>
Result<Value> partition(RenderState&, const Value& self, Bound& arguments) {
  const std::string separator = TRY(text_argument(arguments[0], "sep"));
  if (separator.empty()) return run_error("'sep' is empty");
  const std::string& in = *self.text();
  const size_t at = kFromRight ? find_last_substring(in, separator) : find_substring(in, separator);
  const auto text = [&](std::string part) { return Value::text(std::move(part), self.is_safe()); };
  if (at == std::string::npos)
    return kFromRight ? Value::tuple({text(""), text(""), text(in)}) : Value::tuple({text(in), text(""), text("")});
  return Value::tuple({text(in.substr(0, at)), text(separator), text(in.substr(at + separator.size()))});
}

Result<Value> join_method(RenderState& state, const Value& self, Bound& arguments) {
  const std::vector<Value> items = TRY(items_of(state, arguments[0]));
  TRY(state.take(items.size(), self.text()->size()));
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string part = self.is_safe() ? TRY(escaped_text_of(state, items[i])) : TRY(text_argument(items[i], "item"));
    TRY(state.take(part.size()));
    if (i > 0) out += *self.text();
    out += part;
  }
  return Value::text(std::move(out), self.is_safe());
}

constexpr Builtin kSplitMethods[] = {
    {.name = "split", .parameters = "?sep maxsplit", .apply = split<false>},
    {.name = "rsplit", .parameters = "?sep maxsplit", .apply = split<true>},
    {.name = "splitlines", .parameters = "?keepends", .apply = split_lines},
    {.name = "partition", .parameters = "sep", .apply = partition<false>},
    {.name = "rpartition", .parameters = "sep", .apply = partition<true>},
    {.name = "join", .parameters = "iterable", .apply = join_method},
};

}  // namespace

std::span<const Builtin> split_methods() { return kSplitMethods; }

}  // namespace tenon::llm::jinja
