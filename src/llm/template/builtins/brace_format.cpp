// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/brace_format.h"

#include <algorithm>

#include "llm/template/builtins/markup.h"
#include "llm/template/builtins/number_format.h"
#include "llm/template/values/characters.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {
namespace {

constexpr std::string_view kAligns = "<>=^";

bool is_align(char c) { return kAligns.find(c) != std::string_view::npos; }

int64_t take_number(std::string_view& spec) {
  int64_t out = 0;
  while (!spec.empty() && spec[0] >= '0' && spec[0] <= '9') {
    out = std::min<int64_t>(out * 10 + (spec[0] - '0'), int64_t{1} << 40);
    spec.remove_prefix(1);
  }
  return out;
}

Result<FormatStyle> style_of(std::string_view spec) {
  FormatStyle out;
  const std::string all(spec);
  std::string_view after = spec;
  if (!after.empty()) take_character(after);
  if (!after.empty() && is_align(after[0])) {
    out.fill = std::string(spec.substr(0, spec.size() - after.size()));
    out.align = after[0];
    spec = after.substr(1);
  } else if (!spec.empty() && is_align(spec[0])) {
    out.align = spec[0];
    spec.remove_prefix(1);
  }
  const auto take_one_of = [&](std::string_view set) {
    if (spec.empty() || set.find(spec[0]) == std::string_view::npos) return '\0';
    const char c = spec[0];
    spec.remove_prefix(1);
    return c;
  };
  if (const char sign = take_one_of("+- ")) out.sign = sign;
  out.alternate = take_one_of("#") != 0;
  if (take_one_of("0") && out.align == 0) {
    out.fill = "0";
    out.align = '=';
  }
  out.width = take_number(spec);
  out.grouping = take_one_of(",_");
  if (take_one_of(".")) out.precision = take_number(spec);
  out.type = take_one_of("bcdeEfFgGnosxX%");
  if (!spec.empty())
    return run_error("a format specification is wrong")
        .expected("[fill][align][sign][#][0][width][,][.precision][type]")
        .found("'" + all + "'");
  return out;
}

class BraceFormat {
 public:
  BraceFormat(RenderState& state, const Value& format, const Arguments& arguments)
      : state_(state), rest_(*format.text()), is_safe_(format.is_safe()), arguments_(arguments) {}

  Result<Value> run() {
    std::string out;
    while (!rest_.empty()) {
      const size_t brace = std::min(rest_.find_first_of("{}"), rest_.size());
      out += rest_.substr(0, brace);
      rest_.remove_prefix(brace);
      if (rest_.empty()) break;
      if (rest_.size() > 1 && rest_[0] == rest_[1]) {
        out += rest_[0];
        rest_.remove_prefix(2);
        continue;
      }
      if (rest_[0] == '}') return run_error("a format has a single '}'");
      rest_.remove_prefix(1);
      out += TRY(field());
      TRY(state_.take(out.size() / 16));
    }
    return Value::text(std::move(out), is_safe_);
  }

 private:
  Result<Value> value_of(std::string_view name) {
    const bool is_index = std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (is_index) {
      const size_t index = name.empty() ? next_++ : static_cast<size_t>(take_number(name));
      if (index >= arguments_.positional.size()) return run_error("a format has no value for a field").found(std::to_string(index));
      return arguments_.positional[index];
    }
    if (name.find_first_of(".[") != std::string_view::npos)
      return fail(Code::not_supported, "", "not supported yet: attributes in fields of str.format").found("'" + std::string(name) + "'");
    const auto at = std::ranges::find_if(arguments_.named, [&](const auto& named) { return named.first == name; });
    if (at == arguments_.named.end()) return run_error("a format has no value for a field").found("'" + std::string(name) + "'");
    return at->second;
  }

  Result<std::string> field() {
    const size_t end = rest_.find_first_of("{}");
    if (end == std::string_view::npos) return run_error("a format's field does not end").expected("'}'");
    if (rest_[end] == '{') return fail(Code::not_supported, "", "not supported yet: fields inside of fields of str.format");
    std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    const size_t colon = std::min(field.find(':'), field.size());
    const std::string_view spec = colon < field.size() ? field.substr(colon + 1) : "";
    field = field.substr(0, colon);
    const size_t mark = std::min(field.find('!'), field.size());
    const std::string_view conversion = field.substr(mark);
    Value value = TRY(value_of(field.substr(0, mark)));
    if (conversion == "!r") value = Value::text(TRY(repr_of(state_, value)));
    if (conversion == "!s") value = Value::text(TRY(text_of(state_, value)));
    if (!conversion.empty() && conversion != "!r" && conversion != "!s")
      return run_error("unknown conversion of a field").expected("!r or !s").found(std::string(conversion));
    std::string text = TRY(write(value, spec));
    return is_safe_ && !value.is_safe() ? escaped(text) : text;
  }

  Result<std::string> write(const Value& value, std::string_view spec) {
    if (spec.empty()) return text_of(state_, value);
    const FormatStyle style = TRY(style_of(spec));
    if (const std::string* text = value.text()) {
      if (style.type != 0 && style.type != 's') return wrong_type(value, style);
      return format_text(state_, *text, style);
    }
    int64_t integer = 0;
    const bool is_float_type = style.type != 0 && std::string_view("eEfFgG%").find(style.type) != std::string_view::npos;
    if (integer_of(value, integer) && !is_float_type) {
      if (style.type == 's' || style.precision >= 0) return wrong_type(value, style);
      return format_integer(state_, integer, style);
    }
    if (is_number(value) && (is_float_type || style.type == 0 || style.type == 'n')) return format_float(state_, number_of(value), style);
    return wrong_type(value, style);
  }

  static Error wrong_type(const Value& value, const FormatStyle& style) {
    return run_error("a value does not fit its format")
        .expected("a value for '" + std::string(1, style.type ? style.type : 's') + "'")
        .found(std::string(type_name(value)));
  }

  RenderState& state_;
  std::string_view rest_;
  bool is_safe_;
  const Arguments& arguments_;
  size_t next_ = 0;
};

}  // namespace

Result<Value> brace_format(RenderState& state, const Value& format, const Arguments& arguments) {
  return BraceFormat(state, format, arguments).run();
}

}  // namespace tenon::llm::jinja
