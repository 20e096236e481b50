// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>

#include "base/dim/algebra.h"

namespace tenon::inline base {
namespace {

constexpr std::array<std::string_view, 9> kWords = {"floordiv", "ceildiv", "mod", "min", "max", "select", "less", "equal", "overflow"};

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '.'; }

/// Recursive descent over sums of products; also takes the `//`, `%` and spellings that exporters write into dim_param.
class Parser {
 public:
  Parser(Symbols& symbols, std::string_view text) : symbols_(symbols), text_(text) {}

  std::optional<Dim> whole() {
    auto dim = sum();
    skip_blanks();
    return at_ == text_.size() ? dim : std::nullopt;
  }

 private:
  static constexpr int kDeepest = 64;

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  std::optional<Dim> sum() {
    if (++depth_ > kDeepest) return std::nullopt;
    const bool negative = take("-");
    auto total = term();
    if (total && negative) total = 0 - *total;
    while (total) {
      const bool plus = take("+");
      if (!plus && !take("-")) break;
      const auto next = term();
      if (!next) return std::nullopt;
      total = plus ? *total + *next : *total - *next;
    }
    --depth_;
    return total;
  }

  std::optional<Dim> term() {
    auto total = factor();
    while (total) {
      const char op = take("//") ? '/' : take("*") ? '*' : take("%") ? '%' : 0;
      if (op == 0) break;
      const auto next = factor();
      if (!next) return std::nullopt;
      total = op == '/' ? floor_div(*total, *next) : op == '*' ? *total * *next : mod(*total, *next);
    }
    return total;
  }

  std::optional<Dim> factor() {
    if (take("(")) {
      auto inner = sum();
      return take(")") ? inner : std::nullopt;
    }
    skip_blanks();
    if (at_ >= text_.size()) return std::nullopt;
    if (is_digit(text_[at_])) return number();
    if (text_[at_] == '"') return quoted();
    if (!starts_name(text_[at_])) return std::nullopt;
    const size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "overflow") return DimAlgebra::overflow();
    return take("(") ? call(name) : named(name);
  }

  std::optional<Dim> named(std::string_view name) {
    if (!is_plain_name(name)) return std::nullopt;
    return symbol(name);
  }

  /// One that is there keeps its bounds: reading its name narrows nothing.
  Dim symbol(std::string_view name) {
    const auto& known = DimAlgebra::state_of(&symbols_).by_name;
    const auto found = known.find(std::string(name));
    return found != known.end() ? found->second : symbols_.symbol(name);
  }

  std::optional<Dim> number() {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{} || value >= kUnbounded) return std::nullopt;
    at_ = static_cast<size_t>(end - text_.data());
    return Dim(value);
  }

  std::optional<Dim> quoted() {
    std::string name;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && ++at_ == text_.size()) return std::nullopt;
      name += text_[at_];
    }
    if (at_ >= text_.size()) return std::nullopt;
    ++at_;
    return symbol(name);
  }

  std::optional<Dim> call(std::string_view name) {
    std::vector<Dim> args;
    do {
      const auto arg = sum();
      if (!arg) return std::nullopt;
      args.push_back(*arg);
    } while (take(","));
    if (!take(")")) return std::nullopt;
    return args.size() == 3 ? (name == "select" ? std::optional(select(args[0], args[1], args[2])) : std::nullopt) : pair_call(name, args);
  }

  static std::optional<Dim> pair_call(std::string_view name, const std::vector<Dim>& args) {
    if (args.size() != 2) return std::nullopt;
    if (name == "floordiv") return floor_div(args[0], args[1]);
    if (name == "ceildiv") return ceil_div(args[0], args[1]);
    if (name == "mod" || name == "Mod") return mod(args[0], args[1]);
    if (name == "min" || name == "Min") return min(args[0], args[1]);
    if (name == "max" || name == "Max") return max(args[0], args[1]);
    if (name == "less") return less_than(args[0], args[1]);
    if (name == "equal") return equal_to(args[0], args[1]);
    return std::nullopt;
  }

  Symbols& symbols_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || !starts_name(name[0])) return false;
  for (char c : name) {
    if (!continues_name(c)) return false;
  }
  for (std::string_view word : kWords) {
    if (name == word) return false;
  }
  return true;
}

std::optional<Dim> Symbols::parse(std::string_view text) { return Parser(*this, text).whole(); }

}  // namespace tenon::inline base
