// SPDX-License-Identifier: Apache-2.0
#include "llm/template/values/written.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "llm/template/values/characters.h"
#include "llm/template/values/loop.h"

namespace tenon::llm::jinja {
namespace {

/// Writes into one text, whose bytes are counted as they are written.
class Writer {
 public:
  explicit Writer(RenderState& state) : state_(state) {}

  Result<void> write(const Value& value) {
    TRY(state_.step());
    if (const std::string* text = value.text()) return put(value.is_safe() ? "Markup(" + repr_of(*text) + ")" : repr_of(*text));
    if (const Sequence* sequence = value.sequence()) return write(*sequence);
    if (const Dictionary* dictionary = value.dictionary()) return write(*dictionary);
    if (value.is_none()) return put("None");
    if (value.is_undefined()) return put("Undefined");
    if (const bool* boolean = value.as<bool>()) return put(*boolean ? "True" : "False");
    if (const int64_t* integer = value.as<int64_t>()) return put(std::to_string(*integer));
    if (const double* floating = value.as<double>()) return put(text_of(*floating));
    if (const auto* space = value.as<std::shared_ptr<Namespace>>()) return write(**space);
    if (const auto* loop = value.as<std::shared_ptr<Loop>>()) return put((*loop)->description());
    if (const auto* function = value.as<std::shared_ptr<const Function>>(); function && (*function)->type == "Macro")
      return put("<Macro " + repr_of((*function)->name) + ">");
    return unwritable(value);
  }

  std::string out;

 private:
  static Error unwritable(const Value& value) {
    return run_error("the value has no text").expected("a number, text, list, dict, ...").found(std::string(type_name(value)));
  }

  Result<void> put(std::string_view text) {
    TRY(state_.take(text.size()));
    out += text;
    return {};
  }

  Result<void> write_items(const std::vector<Value>& items) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) TRY(put(", "));
      TRY(write(items[i]));
    }
    return {};
  }

  Result<void> write(const Sequence& s) {
    switch (s.kind) {
      case SequenceKind::list:
        TRY(put("["));
        TRY(write_items(s.items));
        return put("]");
      case SequenceKind::tuple:
        TRY(put("("));
        TRY(write_items(s.items));
        return put(s.items.size() == 1 ? ",)" : ")");
      case SequenceKind::range:
        return put(fmt::format("range({}, {}{})", s.start, s.stop, s.step == 1 ? "" : ", " + std::to_string(s.step)));
      case SequenceKind::keys: TRY(put("dict_keys([")); break;
      case SequenceKind::values: TRY(put("dict_values([")); break;
      case SequenceKind::items: TRY(put("dict_items([")); break;
      default:
        return run_error("a generator has no text of its own").expected("a list").found("a generator").advice("add the filter 'list'");
    }
    TRY(write_items(s.items));
    return put("])");
  }

  Result<void> write(const Dictionary& dictionary) {
    TRY(put("{"));
    bool first = true;
    for (const auto& [key, value] : dictionary.entries()) {
      if (!first) TRY(put(", "));
      first = false;
      TRY(write(key));
      TRY(put(": "));
      TRY(write(value));
    }
    return put("}");
  }

  Result<void> write(const Namespace& space) {
    if (++namespaces_ > kHighestValue) return fail(Code::limit_exceeded, "", "a namespace holds itself");
    TRY(put("<Namespace "));
    TRY(write(space.attributes));
    --namespaces_;
    return put(">");
  }

  RenderState& state_;
  int namespaces_ = 0;
};

}  // namespace

std::string text_of(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view scientific(buffer, static_cast<size_t>(end - buffer));
  const size_t e = scientific.find('e');
  const int exponent = std::stoi(std::string(scientific.substr(e + 1)));
  if (exponent < -4 || exponent >= 16) return std::string(scientific);
  const auto fixed_end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
  std::string fixed(buffer, fixed_end);
  if (fixed.find('.') == std::string::npos) fixed += ".0";
  return fixed;
}

std::string repr_of(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos, has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  while (!text.empty()) {
    const char32_t c = take_character(text);
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_printable(c)) {
      append_character(out, c);
    } else {
      const auto code = static_cast<uint32_t>(c);
      out += code < 0x100     ? fmt::format("\\x{:02x}", code)
             : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                              : fmt::format("\\U{:08x}", code);
    }
  }
  return out + quote;
}

Result<std::string> repr_of(RenderState& state, const Value& value) {
  Writer writer(state);
  TRY(writer.write(value));
  return std::move(writer.out);
}

Result<std::string> text_of(RenderState& state, const Value& value) {
  if (const std::string* text = value.text()) return *text;
  if (value.is_undefined()) return std::string();
  return repr_of(state, value);
}

}  // namespace tenon::llm::jinja
