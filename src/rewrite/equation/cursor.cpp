// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

namespace tenon::rewrite {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The most characters of a line that an error shows.
constexpr size_t kShown = 120;

}  // namespace

void Cursor::skip_blanks() {
  while (position_ < text_.size()) {
    if (text_[position_] == '#') position_ = std::min(text_.find('\n', position_), text_.size());
    else if (std::isspace(static_cast<unsigned char>(text_[position_]))) ++position_;
    else return;
  }
}

bool Cursor::eat(std::string_view token) {
  skip_blanks();
  if (!text_.substr(position_).starts_with(token)) return false;
  position_ += token.size();
  return true;
}

char Cursor::peek() {
  skip_blanks();
  return position_ < text_.size() ? text_[position_] : '\0';
}

std::string_view Cursor::word() {
  skip_blanks();
  size_t end = position_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  return text_.substr(position_, end - position_);
}

std::string Cursor::identifier() {
  std::string w(word());
  position_ += w.size();
  return w;
}

bool Cursor::eat_word(std::string_view expected) {
  if (word() != expected) return false;
  position_ += expected.size();
  return true;
}

bool Cursor::number_ahead() {
  const char c = peek();
  if (is_digit(c) || word() == "inf") return true;
  return c == '-' && (is_digit(peek_second()) || text_.substr(position_ + 1).starts_with("inf"));
}

Result<double> Cursor::number() {
  if (!number_ahead()) return error("a number");
  const bool negative = text_[position_] == '-';
  if (text_.substr(position_ + negative).starts_with("inf")) {
    position_ += 3 + negative;
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  double value = 0;
  const auto [end, code] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
  if (code != std::errc()) return error("a number within the range of f64");
  position_ = static_cast<size_t>(end - text_.data());
  return value;
}

Result<int64_t> Cursor::integer() {
  skip_blanks();
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
  if (code != std::errc()) return error("an integer");
  position_ = static_cast<size_t>(end - text_.data());
  return value;
}

Result<std::string> Cursor::quoted() {
  const size_t end = text_.find_first_of("\"\n", position_);
  if (end == text_.npos || text_[end] != '"') return error("'\"' on the same line");
  std::string out(text_.substr(position_, end - position_));
  position_ = end + 1;
  return out;
}

std::string_view Cursor::text_since(size_t start) const {
  std::string_view out = text_.substr(start, position_ - start);
  while (!out.empty() && std::isspace(static_cast<unsigned char>(out.back()))) out.remove_suffix(1);
  return out;
}

int Cursor::line_of(size_t at) const {
  return 1 + static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<int64_t>(std::min(at, text_.size())), '\n'));
}

Error Cursor::error_at(size_t at, std::string what, Code code) const {
  at = std::min(at, text_.size());
  const size_t begin = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const size_t end = std::min(text_.find('\n', at), text_.size());
  const size_t column = at - begin;
  const size_t from = column > kShown - 20 ? column - (kShown - 20) : 0;
  std::string line(text_.substr(begin + from, std::min(end - begin - from, kShown)));
  for (char& c : line)
    if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
  const std::string place = file_.empty() ? fmt::format("column {}", column + 1) : fmt::format("{}:{}:{}", file_, line_of(at), column + 1);
  return fail(code, place, fmt::format("{}\n  {}\n  {:>{}}", what, line, "^", column - from + 1));
}

Error Cursor::error(std::string expected) const {
  const std::string_view rest = text_.substr(std::min(position_, text_.size()));
  const std::string found = rest.empty() ? "the end" : fmt::format("'{}'", rest.substr(0, std::min<size_t>(12, rest.find('\n'))));
  return error_at(position_, "equation").expected(std::move(expected)).found(rest.starts_with('\n') ? "the end of the line" : found);
}

}  // namespace tenon::rewrite
