// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "llm/template/builtins/brace_format.h"
#include "llm/template/builtins/markup.h"
#include "llm/template/builtins/text_cases.h"
#include "llm/template/builtins/text_methods.h"
#include "llm/template/values/characters.h"

namespace tenon::llm::jinja {
namespace {

using Predicate = bool (*)(char32_t);

/// Whether there are characters and all fulfil the predicate.
Value all_are(const Value& self, Predicate predicate) {
  const std::u32string characters = characters_of(*self.text());
  return Value::boolean(!characters.empty() && std::ranges::all_of(characters, predicate));
}

/// str.isupper() and islower(): there is a letter with a case, and none of the other case.
Value has_case(const Value& self, Predicate wanted, Predicate other) {
  const std::u32string characters = characters_of(*self.text());
  const bool mixed = std::ranges::any_of(characters, other) || std::ranges::any_of(characters, is_title);
  return Value::boolean(!mixed && std::ranges::any_of(characters, wanted));
}

Result<Value> text(const Value& self, std::string value) { return Value::text(std::move(value), self.is_safe()); }

Result<Value> swap_case(RenderState&, const Value& self, Bound&) {
  std::string out;
  for (const char32_t c : characters_of(*self.text())) {
    std::string one;
    append_character(one, c);
    out += is_upper(c) ? lower_of(one) : upper_of(one);
  }
  return text(self, std::move(out));
}

Result<Value> is_title_case(RenderState&, const Value& self, Bound&) {
  bool in_word = false, any = false;
  for (const char32_t c : characters_of(*self.text())) {
    const bool starts = is_upper(c) || is_title(c), goes_on = is_lower(c);
    if ((starts && in_word) || (goes_on && !in_word)) return Value::boolean(false);
    in_word = starts || goes_on;
    any |= in_word;
  }
  return Value::boolean(any);
}

/// str.strip and its like.
template <Ends kEnds>
Result<Value> strip(RenderState&, const Value& self, Bound& arguments) {
  if (arguments[0].is_absent() || arguments[0].is_none()) return text(self, std::string(stripped(*self.text(), kEnds)));
  return text(self, std::string(stripped(*self.text(), kEnds, TRY(text_argument(arguments[0], "chars")))));
}

Result<std::string> fill_of(const Value& value) {
  if (value.is_absent()) return std::string(" ");
  std::string fill = TRY(text_argument(value, "fillchar"));
  if (character_count(fill) != 1) return run_error("'fillchar' is not one character").found(std::to_string(character_count(fill)));
  return fill;
}

std::string repeated(const std::string& part, int64_t count) {
  std::string out;
  for (int64_t i = 0; i < count; ++i) out += part;
  return out;
}

/// str.center, ljust and rjust: how many of the missing characters stand at the left.
template <int64_t (*kLeft)(int64_t missing, int64_t width)>
Result<Value> justify(RenderState& state, const Value& self, Bound& arguments) {
  const int64_t width = TRY(integer_argument(arguments[0], 0, "width"));
  const std::string fill = TRY(fill_of(arguments[1]));
  const auto length = static_cast<int64_t>(character_count(*self.text()));
  const int64_t missing = width > length ? width - length : 0;
  TRY(state.take(static_cast<uint64_t>(missing), fill.size()));
  const int64_t left = kLeft(missing, width);
  return text(self, repeated(fill, left) + *self.text() + repeated(fill, missing - left));
}

int64_t none_left(int64_t, int64_t) { return 0; }
int64_t all_left(int64_t missing, int64_t) { return missing; }
int64_t half_left(int64_t missing, int64_t width) { return missing / 2 + (missing & width & 1); }

Result<Value> zero_fill(RenderState& state, const Value& self, Bound& arguments) {
  const std::string& in = *self.text();
  const int64_t width = TRY(integer_argument(arguments[0], 0, "width"));
  const int64_t missing = std::max<int64_t>(width > 0 ? width - static_cast<int64_t>(character_count(in)) : 0, 0);
  TRY(state.take(static_cast<uint64_t>(missing)));
  const size_t sign = in.starts_with('-') || in.starts_with('+') ? 1 : 0;
  return text(self, in.substr(0, sign) + std::string(static_cast<size_t>(missing), '0') + in.substr(sign));
}

Result<Value> expand_tabs(RenderState& state, const Value& self, Bound& arguments) {
  const int64_t size = TRY(integer_argument(arguments[0], 8, "tabsize"));
  std::string out;
  int64_t column = 0;
  for (const char32_t c : characters_of(*self.text())) {
    if (c != '\t') {
      append_character(out, c);
      column = c == '\n' || c == '\r' ? 0 : column + 1;
      continue;
    }
    const int64_t missing = size > 0 ? size - column % size : 0;
    TRY(state.take(static_cast<uint64_t>(missing)));
    out.append(static_cast<size_t>(missing), ' ');
    column += missing;
  }
  return text(self, std::move(out));
}

Result<Value> format_method(RenderState& state, const Value& self, Arguments& arguments) {
  return state.admit(TRY(brace_format(state, self, arguments)));
}

constexpr Builtin kCaseMethods[] = {
    {.name = "capitalize", .parameters = "", .apply = [](RenderState&, const Value& s, Bound&) { return text(s, capitalized(*s.text())); }},
    {.name = "lower", .parameters = "", .apply = [](RenderState&, const Value& s, Bound&) { return text(s, lower_of(*s.text())); }},
    {.name = "upper", .parameters = "", .apply = [](RenderState&, const Value& s, Bound&) { return text(s, upper_of(*s.text())); }},
    {.name = "title", .parameters = "", .apply = [](RenderState&, const Value& s, Bound&) { return text(s, titled(*s.text())); }},
    {.name = "swapcase", .parameters = "", .apply = swap_case},
    {.name = "strip", .parameters = "?chars", .apply = strip<Ends::both>},
    {.name = "lstrip", .parameters = "?chars", .apply = strip<Ends::left>},
    {.name = "rstrip", .parameters = "?chars", .apply = strip<Ends::right>},
    {.name = "center", .parameters = "width ?fillchar", .apply = justify<half_left>},
    {.name = "ljust", .parameters = "width ?fillchar", .apply = justify<none_left>},
    {.name = "rjust", .parameters = "width ?fillchar", .apply = justify<all_left>},
    {.name = "zfill", .parameters = "width", .apply = zero_fill},
    {.name = "expandtabs", .parameters = "?tabsize", .apply = expand_tabs},
    {.name = "format", .parameters = "*", .apply_raw = format_method},
    {.name = "istitle", .parameters = "", .apply = is_title_case},
    {.name = "isupper",
     .parameters = "",
     .apply = [](RenderState&, const Value& s, Bound&) -> Result<Value> { return has_case(s, is_upper, is_lower); }},
    {.name = "islower",
     .parameters = "",
     .apply = [](RenderState&, const Value& s, Bound&) -> Result<Value> { return has_case(s, is_lower, is_upper); }},
    {.name = "isspace",
     .parameters = "",
     .apply = [](RenderState&, const Value& s, Bound&) -> Result<Value> { return all_are(s, is_space); }},
    {.name = "isalpha",
     .parameters = "",
     .apply = [](RenderState&, const Value& s, Bound&) -> Result<Value> { return all_are(s, is_letter); }},
    {.name = "isdigit",
     .parameters = "",
     .apply = [](RenderState&, const Value& s, Bound&) -> Result<Value> { return all_are(s, is_digit); }},
    {.name = "isdecimal",
     .parameters = "",
     .apply = [](RenderState&, const Value& s, Bound&) -> Result<Value> { return all_are(s, is_digit); }},
    {.name = "isnumeric",
     .parameters = "",
     .apply = [](RenderState&, const Value& s, Bound&) -> Result<Value> { return all_are(s, is_digit); }},
    {.name = "isalnum",
     .parameters = "",
     .apply = [](RenderState&, const Value& s, Bound&) -> Result<Value> {
       return all_are(s, [](char32_t c) { return c != '_' && is_word(c); });
     }},
    {.name = "isascii",
     .parameters = "",
     .apply = [](RenderState&, const Value& s, Bound&) -> Result<Value> { return Value::boolean(is_ascii(*s.text())); }},
};

}  // namespace

std::span<const Builtin> case_methods() { return kCaseMethods; }

const Builtin* text_method(std::string_view name) {
  for (const auto table : {case_methods(), search_methods(), split_methods()})
    if (const Builtin* method = find_builtin(table, name)) return method;
  return nullptr;
}

bool is_other_text_method(std::string_view name) {
  constexpr std::string_view kOthers[] = {"casefold", "encode", "format_map", "isidentifier", "isprintable", "maketrans", "translate"};
  return std::ranges::find(kOthers, name) != std::end(kOthers);
}

}  // namespace tenon::llm::jinja
