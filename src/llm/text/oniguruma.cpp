// SPDX-License-Identifier: Apache-2.0
#include "llm/text/oniguruma.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "llm/text/utf8.h"

namespace tenon::llm {
namespace {

bool compiles(const std::string& pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code_8* code =
      pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(), PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
  pcre2_code_free_8(code);
  return code != nullptr;
}

/// The meaning of an escaped letter as members of a character class; "" where it is the same in PCRE2.
std::string_view members_of(char letter) {
  switch (letter) {
    case 's':
    case 'S': return R"(\t-\r\x{85}\p{Z})";
    case 'w':
    case 'W': return R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
    case 'd':
    case 'D': return R"(\p{Nd})";
    case 'h':
    case 'H': return "0-9a-fA-F";
    default: return "";
  }
}

class Translation {
 public:
  Translation(std::string_view pattern, std::string_view place) : in_(pattern), place_(place) {}

  Result<std::string> run() {
    while (at_ < in_.size()) TRY(element());
    return std::move(out_);
  }

 private:
  Error not_supported(std::string_view what) const {
    return fail(Code::not_supported, std::string(place_), fmt::format("not supported yet: {} in a regular expression", what))
        .expected("an expression without it")
        .found(fmt::format("'{}', at byte {}", in_.substr(0, 200), at_));
  }
  char peek(size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  bool follows(std::string_view text) const { return in_.substr(at_).starts_with(text); }

  /// One atom, quantifier or other character of the pattern.
  Result<void> element() {
    const size_t begin = out_.size();
    switch (peek()) {
      case '\\': TRY(escape(false)); break;
      case '[': TRY(character_class()); break;
      case '(': return group();
      case ')':
        out_ += in_[at_++];
        atom_ = groups_.empty() ? begin : groups_.back();
        if (!groups_.empty()) groups_.pop_back();
        return {};
      case '{': return interval();
      case '*':
      case '+':
      case '?':
      case '|':
      case '^':
      case '$': out_ += in_[at_++]; return {};
      default: {
        const size_t length = utf8_step(in_, at_).length;
        out_ += in_.substr(at_, length);
        at_ += length;
      }
    }
    atom_ = begin;
    return {};
  }

  Result<void> group() {
    groups_.push_back(out_.size());
    if (follows("(?~")) return not_supported("an absent operator");
    if (!follows("(?") || peek(2) == '<' || peek(2) == '#') {
      out_ += in_[at_++];
      return {};
    }
    out_ += "(?";
    at_ += 2;
    for (bool on = true; at_ < in_.size() && (peek() == '-' || std::islower(static_cast<unsigned char>(peek()))); ++at_) {
      on &= peek() != '-';
      if (peek() == 'm' && !on) return not_supported("(?-m)");
      out_ += peek() == 'm' ? 's' : peek();
    }
    return {};
  }

  /// {n,m}, or a brace that is a character; in front of a '+' the atom and its interval become a group.
  Result<void> interval() {
    const size_t end = in_.find('}', at_);
    const auto is_part = [](char c) { return (c >= '0' && c <= '9') || c == ','; };
    const std::string_view inside = end == std::string_view::npos ? "" : in_.substr(at_ + 1, end - at_ - 1);
    if (inside.empty() || inside == "," || !std::all_of(inside.begin(), inside.end(), is_part)) {
      atom_ = out_.size();
      out_ += "\\{";
      ++at_;
      return {};
    }
    out_ += inside.front() == ',' ? fmt::format("{{0{}}}", inside) : fmt::format("{{{}}}", inside);
    at_ = end + 1;
    if (peek() == '+') {
      out_.insert(atom_, "(?:");
      out_ += ')';
    }
    return {};
  }

  /// An escape of one letter or with arguments; in a class, its members alone.
  Result<void> escape(bool in_class) {
    const char letter = peek(1);
    if (const std::string_view members = members_of(letter); !members.empty()) {
      const bool negated = std::isupper(static_cast<unsigned char>(letter));
      at_ += 2;
      if (!in_class) out_ += fmt::format("[{}{}]", negated ? "^" : "", members);
      else if (!negated) out_ += members;
      else if (letter == 'S') out_ += R"(\S\x{180e})";
      else if (letter == 'D') out_ += R"(\P{Nd})";
      else return not_supported(fmt::format("\\{} in a class", letter));
      return {};
    }
    if (letter == 'u') {
      const std::string_view digits = in_.substr(at_ + 2, 4);
      out_ += fmt::format("\\x{{{}}}", digits);
      at_ += 2 + digits.size();
      return {};
    }
    if (letter == 'g' || letter == 'k') return not_supported("a reference to a group");
    if (letter == 'p' || letter == 'P') return property();
    const size_t length = at_ + 1 < in_.size() ? 1 + utf8_step(in_, at_ + 1).length : 1;
    out_ += in_.substr(at_, length);
    at_ += length;
    return {};
  }

  /// \p{Name}: characters of the script, not of its extensions.
  Result<void> property() {
    const size_t end = in_.find('}', at_);
    if (peek(2) != '{' || end == std::string_view::npos || end - at_ > 40) return not_supported("a property without braces");
    const std::string_view letter = in_.substr(at_ + 1, 1);
    std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
    const std::string_view negation = name.starts_with('^') ? "^" : "";
    name.remove_prefix(negation.size());
    at_ = end + 1;
    const bool plain =
        std::all_of(name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '&'; });
    const bool script = plain && name.size() > 2 && compiles(fmt::format("\\p{{sc:{}}}", name));
    out_ += fmt::format("\\{}{{{}{}{}}}", letter, negation, script ? "sc:" : "", name);
    return {};
  }

  /// A class; one in it without '^' adds its members.
  Result<void> character_class() {
    out_ += in_[at_++];
    if (peek() == '^') out_ += in_[at_++];
    if (peek() == ']') out_ += "\\]", ++at_;
    size_t depth = 1;
    while (at_ < in_.size() && depth > 0) {
      if (follows("&&")) return not_supported("an intersection of classes");
      if (follows("[^")) return not_supported("a negated class in a class");
      if (peek() == '\\') {
        TRY(escape(true));
      } else if (follows("[:")) {
        const size_t end = std::min(in_.find(":]", at_), in_.size() - 2);
        out_ += in_.substr(at_, end + 2 - at_);
        at_ = end + 2;
      } else if (peek() == '[' || peek() == ']') {
        depth += peek() == '[' ? 1 : -1;
        ++at_;
      } else {
        const size_t length = utf8_step(in_, at_).length;
        out_ += in_.substr(at_, length);
        at_ += length;
      }
    }
    if (depth == 0) out_ += ']';
    return {};
  }

  std::string_view in_, place_;
  std::string out_;
  size_t at_ = 0;
  size_t atom_ = 0;             ///< where the last atom begins in `out_`
  std::vector<size_t> groups_;  ///< where the open groups begin in `out_`
};

}  // namespace

Result<std::string> pcre2_of_oniguruma(std::string_view pattern, std::string_view place) { return Translation(pattern, place).run(); }

}  // namespace tenon::llm
