// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "llm/template/values/characters.h"
#include "llm/template/values/compare.h"
#include "llm/template/values/merge_sort.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(RenderState& state, const JsonStyle& style) : state_(state), style_(style) {}

  Result<void> write(const Value& value) {
    TRY(state_.step());
    if (const std::string* text = value.text()) return write_text(*text);
    if (value.is_none()) return put("null");
    if (const bool* boolean = value.as<bool>()) return put(*boolean ? "true" : "false");
    if (const int64_t* integer = value.as<int64_t>()) return put(std::to_string(*integer));
    if (const double* floating = value.as<double>()) return put(number(*floating));
    if (const Dictionary* dictionary = value.dictionary()) return write(*dictionary);
    if (const Sequence* s = value.sequence(); s && (s->kind == SequenceKind::list || s->kind == SequenceKind::tuple)) return write(*s);
    if (value.is_undefined()) return undefined_error(value);
    return run_error("JSON has no such value").expected("a text, number, bool, none, list or dict").found(std::string(type_name(value)));
  }

  std::string out;

 private:
  Result<void> put(std::string_view text) {
    TRY(state_.take(text.size()));
    out += text;
    return {};
  }

  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return text_of(value);
  }

  void put_escape(char32_t c) {
    const auto code = static_cast<uint32_t>(c);
    if (code < 0x10000) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
    }
  }

  Result<void> write_text(std::string_view text) {
    TRY(state_.take(text.size(), 2));
    out += '"';
    while (!text.empty()) {
      const char32_t c = take_character(text);
      switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        case '\f': out += "\\f"; break;
        case '\b': out += "\\b"; break;
        default:
          if (c < 0x20 || (style_.ascii && c > 0x7e)) {
            put_escape(c);
          } else {
            append_character(out, c);
          }
      }
    }
    out += '"';
    return {};
  }

  Result<void> new_line() {
    if (!style_.indent) return {};
    TRY(state_.take(static_cast<uint64_t>(level_), style_.indent->size()));
    out += '\n';
    for (int i = 0; i < level_; ++i) out += *style_.indent;
    return {};
  }

  Result<void> write(const Sequence& sequence) {
    if (sequence.items.empty()) return put("[]");
    ++level_;
    for (size_t i = 0; i < sequence.items.size(); ++i) {
      TRY(put(i == 0 ? "[" : style_.item_separator));
      TRY(new_line());
      TRY(write(sequence.items[i]));
    }
    --level_;
    TRY(new_line());
    return put("]");
  }

  static Result<std::string> key_of(const Value& key) {
    if (const std::string* text = key.text()) return *text;
    if (key.is_none()) return std::string("null");
    if (const bool* boolean = key.as<bool>()) return std::string(*boolean ? "true" : "false");
    if (const int64_t* integer = key.as<int64_t>()) return std::to_string(*integer);
    if (const double* floating = key.as<double>()) return number(*floating);
    return run_error("JSON has no such key").expected("a text, number, bool or none").found(std::string(type_name(key)));
  }

  Result<void> write(const Dictionary& dictionary) {
    if (dictionary.entries().empty()) return put("{}");
    std::vector<const Dictionary::Entry*> entries;
    for (const auto& entry : dictionary.entries()) entries.push_back(&entry);
    if (style_.sorts_keys) TRY(merge_sort(entries, [&](const auto* a, const auto* b) { return less(state_, a->first, b->first); }));
    ++level_;
    bool first = true;
    for (const auto* entry : entries) {
      TRY(put(first ? "{" : style_.item_separator));
      first = false;
      TRY(new_line());
      TRY(write_text(TRY(key_of(entry->first))));
      TRY(put(style_.key_separator));
      TRY(write(entry->second));
    }
    --level_;
    TRY(new_line());
    return put("}");
  }

  RenderState& state_;
  const JsonStyle& style_;
  int level_ = 0;
};

}  // namespace

Result<std::string> json_of(RenderState& state, const Value& value, const JsonStyle& style) {
  JsonWriter writer(state, style);
  TRY(writer.write(value));
  return std::move(writer.out);
}

}  // namespace tenon::llm::jinja
