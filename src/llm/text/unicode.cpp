// SPDX-License-Identifier: Apache-2.0
#include "llm/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "llm/text/utf8.h"

namespace tenon::llm {
namespace {

constexpr size_t kMostDecomposed = 32;  // code points of one; Unicode 15 has 18

int category_of(uint32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }
int combining_class_of(utf8proc_int32_t code) { return utf8proc_get_property(code)->combining_class; }

std::vector<utf8proc_int32_t> decomposed(std::string_view text, bool compatible) {
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  std::vector<utf8proc_int32_t> out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    at += step.length;
    utf8proc_int32_t parts[kMostDecomposed];
    int boundary = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(step.code), parts,
                                                           static_cast<utf8proc_ssize_t>(kMostDecomposed), options, &boundary);
    if (count > 0 && count <= static_cast<utf8proc_ssize_t>(kMostDecomposed)) out.insert(out.end(), parts, parts + count);
  }
  return out;
}

/// Marks in the order of their classes, those of one class as they were. utf8proc swaps neighbors for that, which takes quadratic time.
void order_marks(std::vector<utf8proc_int32_t>& codes) {
  struct Mark {
    int combining_class;
    size_t place;
    utf8proc_int32_t code;
  };
  std::vector<Mark> marks;
  for (size_t begin = 0; begin < codes.size(); ++begin) {
    marks.clear();
    for (size_t i = begin; i < codes.size() && combining_class_of(codes[i]) != 0; ++i)
      marks.push_back({combining_class_of(codes[i]), i, codes[i]});
    std::sort(marks.begin(), marks.end(),
              [](const Mark& a, const Mark& b) { return std::pair(a.combining_class, a.place) < std::pair(b.combining_class, b.place); });
    for (const Mark& mark : marks) codes[begin++] = mark.code;
  }
}

}  // namespace

std::string normalized(std::string_view text, NormalForm form) {
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii) return std::string(text);
  auto codes = decomposed(text, form == NormalForm::nfkc || form == NormalForm::nfkd);
  order_marks(codes);
  auto count = static_cast<utf8proc_ssize_t>(codes.size());
  if (form == NormalForm::nfc || form == NormalForm::nfkc)
    count = utf8proc_normalize_utf32(codes.data(), count, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string out;
  out.reserve(text.size());
  for (utf8proc_ssize_t i = 0; i < count; ++i) append_utf8(out, static_cast<uint32_t>(codes[static_cast<size_t>(i)]));
  return out;
}

std::string lower_case(std::string_view text) {
  constexpr uint32_t kCapitalIWithDot = 0x130;  // the one character whose lower case is two
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    at += step.length;
    if (step.code == kCapitalIWithDot) out += "i\xcc\x87";
    else append_utf8(out, static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(step.code))));
  }
  return out;
}

bool is_mark(uint32_t code) {
  const int c = category_of(code);
  return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_MC || c == UTF8PROC_CATEGORY_ME;
}

bool is_punctuation(uint32_t code) {
  const int c = category_of(code);
  return c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO;
}

bool is_number(uint32_t code) {
  const int c = category_of(code);
  return c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO;
}

bool is_letter(uint32_t code) {
  const int c = category_of(code);
  return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

bool is_space(uint32_t code) {
  const int c = category_of(code);
  return (code >= 9 && code <= 13) || code == 0x85 || (c >= UTF8PROC_CATEGORY_ZS && c <= UTF8PROC_CATEGORY_ZP);
}

}  // namespace tenon::llm
