// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "llm/template/builtins/filters.h"
#include "llm/template/builtins/markup.h"
#include "llm/template/builtins/percent_format.h"
#include "llm/template/builtins/text_cases.h"
#include "llm/template/builtins/text_methods.h"
#include "llm/template/values/characters.h"
#include "llm/template/values/compare.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {
namespace {

/// The value as a text, which stays safe.
Result<Value> soft_text(RenderState& state, const Value& value) {
  if (value.text()) return value;
  return Value::text(TRY(text_of(state, value)));
}

/// A filter that is a method of the value's text.
template <const char* kName>
Result<Value> method(RenderState& state, const Value& value, Arguments& arguments) {
  return (*text_method(kName))(state, TRY(soft_text(state, value)), arguments);
}

constexpr char kCapitalize[] = "capitalize", kLower[] = "lower", kUpper[] = "upper", kTrim[] = "strip";

/// Each word's first letter in upper case, where words begin after spaces, '-' and opening brackets.
Result<Value> title(RenderState& state, const Value& value, Bound&) {
  const std::string text = TRY(text_of(state, value));
  std::string out, word;
  const auto flush = [&] {
    if (word.empty()) return;
    std::string_view rest = word;
    std::string first;
    append_character(first, take_character(rest));
    out += upper_of(first) + lower_of(rest);
    word.clear();
  };
  for (std::string_view rest = text; !rest.empty();) {
    const char32_t c = take_character(rest);
    const bool separates = is_space(c) || (c < 0x80 && std::string_view("-({[<").find(static_cast<char>(c)) != std::string_view::npos);
    if (separates) flush();
    append_character(separates ? out : word, c);
  }
  flush();
  return Value::text(std::move(out));
}

Result<Value> center(RenderState& state, const Value& value, Bound& arguments) {
  Arguments width{.positional = {arguments[0].is_absent() ? Value::integer(80) : arguments[0]}, .named = {}};
  return (*text_method("center"))(state, TRY(soft_text(state, value)), width);
}

Result<Value> replace(RenderState& state, const Value& value, Bound& arguments) {
  const std::string in = TRY(text_of(state, value)), from = TRY(text_of(state, arguments[0])), to = TRY(text_of(state, arguments[1]));
  TRY(state.take(occurrences(in, from), to.size()));
  return Value::text(replaced(in, from, to, TRY(integer_argument(arguments[2], -1, "count"))));
}

Result<Value> indent(RenderState& state, const Value& value, Bound& arguments) {
  if (!value.text())
    return value.is_undefined() ? undefined_error(value) : run_error("indent: the value is no text").found(std::string(type_name(value)));
  std::string by;
  if (const std::string* text = arguments[0].text()) {
    by = *text;
  } else {
    const int64_t width = std::max<int64_t>(TRY(integer_argument(arguments[0], 4, "width")), 0);
    TRY(state.take(static_cast<uint64_t>(width)));
    by.assign(static_cast<size_t>(width), ' ');
  }
  const bool first = flag_argument(arguments[1], false), blank = flag_argument(arguments[2], false);
  const std::string in = *value.text() + "\n";
  TRY(state.take(in.size(), sizeof(std::string_view)));  // of lines, at most
  const auto lines = lines_of(in);
  TRY(state.take(lines.size(), by.size() + 1));
  std::string out = first ? by : "";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += '\n';
    if (i > 0 && (blank || !lines[i].empty())) out += by;
    out += lines[i];
  }
  return Value::text(std::move(out), value.is_safe());
}

Result<Value> truncate(RenderState& state, const Value& value, Bound& arguments) {
  const int64_t length = TRY(integer_argument(arguments[0], 255, "length"));
  const std::string end = arguments[2].is_absent() ? "..." : TRY(text_argument(arguments[2], "end"));
  const int64_t leeway = TRY(integer_argument(arguments[3], 5, "leeway"));
  const auto end_length = static_cast<int64_t>(character_count(end));
  if (length < end_length || leeway < 0) return run_error("truncate: the length is too small").found(std::to_string(length));
  if (TRY(length_of(value)) <= length + leeway) return value;
  if (!value.text()) return run_error("truncate: the value is no text").found(std::string(type_name(value)));
  const std::u32string all = characters_of(*value.text());
  TRY(state.take(all.size()));
  std::string head = text_of(std::u32string_view(all).substr(0, static_cast<size_t>(length - end_length)));
  if (!flag_argument(arguments[1], false)) head = head.substr(0, std::min(head.rfind(' '), head.size()));
  return Value::text(head + (value.is_safe() ? escaped(end) : end), value.is_safe());
}

Result<Value> word_count(RenderState& state, const Value& value, Bound&) {
  const std::string text = TRY(text_of(state, value));
  int64_t count = 0;
  bool in_word = false;
  for (std::string_view rest = text; !rest.empty();) {
    const bool word = is_word(take_character(rest));
    count += word && !in_word ? 1 : 0;
    in_word = word;
  }
  return Value::integer(count);
}

Result<std::string> url_quoted(RenderState& state, const Value& value, bool for_query) {
  constexpr std::string_view kDigits = "0123456789ABCDEF", kKept = "_.-~";
  const std::string text = TRY(text_of(state, value));
  TRY(state.take(text.size(), 3));
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || kKept.find(c) != std::string_view::npos;
    if (is_plain || (c == '/' && !for_query)) {
      out += c;
    } else if (c == ' ' && for_query) {
      out += '+';
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

Result<Value> url_encode(RenderState& state, const Value& value, Bound&) {
  if (value.text() || !is_iterable(value)) return Value::text(TRY(url_quoted(state, value, false)));
  std::string out;
  const auto put = [&](const Value& key, const Value& item) -> Result<void> {
    if (!out.empty()) out += '&';
    out += TRY(url_quoted(state, key, true)) + "=" + TRY(url_quoted(state, item, true));
    return {};
  };
  if (const Dictionary* dictionary = value.dictionary()) {
    for (const auto& [key, item] : dictionary->entries()) TRY(put(key, item));
    return Value::text(std::move(out));
  }
  for (const Value& pair : TRY(items_of(state, value))) {
    const std::vector<Value> parts = TRY(items_of(state, pair));
    if (parts.size() != 2) return run_error("urlencode: an item is no pair").found(std::to_string(parts.size()) + " values");
    TRY(put(parts[0], parts[1]));
  }
  return Value::text(std::move(out));
}

Result<Value> to_json(RenderState& state, const Value& value, Bound& arguments) {
  JsonStyle style{.ascii = flag_argument(arguments[0], false), .indent = {}, .sorts_keys = flag_argument(arguments[3], false)};
  const Value& indent = arguments[1];
  if (const std::string* text = indent.text()) {
    style.indent = *text;
  } else if (!indent.is_absent() && !indent.is_none()) {
    const int64_t width = TRY(integer_argument(indent, 0, "indent"));
    if (width > 1000)
      return fail(Code::limit_exceeded, "", "tojson: the indentation is too wide").expected("at most 1000").found(std::to_string(width));
    style.indent = std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ');
  }
  if (style.indent) style.item_separator = ",";
  if (!arguments[2].is_absent() && !arguments[2].is_none()) {
    const std::vector<Value> separators = TRY(items_of(state, arguments[2]));
    if (separators.size() != 2) return run_error("tojson: 'separators' is no pair").found(std::to_string(separators.size()) + " values");
    style.item_separator = TRY(text_argument(separators[0], "separators"));
    style.key_separator = TRY(text_argument(separators[1], "separators"));
  }
  return Value::text(TRY(json_of(state, value, style)));
}

Result<Value> format(RenderState& state, const Value& value, Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) return run_error("format: values with and without names are mixed");
  Value values = Value::tuple(std::move(arguments.positional));
  if (!arguments.named.empty()) {
    Dictionary named;
    for (auto& [name, item] : arguments.named) named.set(Value::text(name), std::move(item));
    values = Value::dictionary(std::move(named));
  }
  return state.admit(TRY(percent_format(state, TRY(soft_text(state, value)), values)));
}

Result<Value> escape(RenderState& state, const Value& value, Bound&) { return Value::text(TRY(escaped_text_of(state, value)), true); }

Result<Value> force_escape(RenderState& state, const Value& value, Bound&) {
  return Value::text(TRY(escaped_text_of(state, Value::text(TRY(text_of(state, value))))), true);
}

Result<Value> mark_safe(RenderState& state, const Value& value, Bound&) { return Value::text(TRY(text_of(state, value)), true); }

constexpr Builtin kTextFilters[] = {
    {.name = "tojson", .parameters = "?ensure_ascii indent separators sort_keys", .apply = to_json},
    {.name = "trim", .parameters = "?chars", .apply_raw = method<kTrim>},
    {.name = "string", .parameters = "", .apply = [](RenderState& s, const Value& v, Bound&) { return soft_text(s, v); }},
    {.name = "upper", .parameters = "", .apply_raw = method<kUpper>},
    {.name = "lower", .parameters = "", .apply_raw = method<kLower>},
    {.name = "capitalize", .parameters = "", .apply_raw = method<kCapitalize>},
    {.name = "title", .parameters = "", .apply = title},
    {.name = "replace", .parameters = "old new ?count", .apply = replace},
    {.name = "indent", .parameters = "?width first blank", .apply = indent},
    {.name = "safe", .parameters = "", .apply = mark_safe},
    {.name = "escape", .parameters = "", .apply = escape},
    {.name = "e", .parameters = "", .apply = escape},
    {.name = "forceescape", .parameters = "", .apply = force_escape},
    {.name = "center", .parameters = "?width", .apply = center},
    {.name = "truncate", .parameters = "?length killwords end leeway", .apply = truncate},
    {.name = "wordcount", .parameters = "", .apply = word_count},
    {.name = "urlencode", .parameters = "", .apply = url_encode},
    {.name = "format", .parameters = "*", .apply_raw = format},
};

}  // namespace

std::span<const Builtin> text_filters() { return kTextFilters; }

}  // namespace tenon::llm::jinja
