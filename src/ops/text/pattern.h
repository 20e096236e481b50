// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tenon::ops {

/// A regular expression in a subset of the syntax of RE2: literals, ., classes, \d \w \s and their opposites, \b \B ^ $, groups, |, * + ?
/// and {m,n}. A nondeterministic automaton, simulated for all states at once: a match takes time proportional to the lengths of text and
/// pattern.
class TextPattern {
 public:
  /// Errors: bad_attribute where the pattern is not well formed, not_supported for flags, \p and other syntax outside of the subset,
  /// limit_exceeded for patterns that grow beyond 20,000 steps.
  static Result<TextPattern> parse(std::string_view pattern, const std::string& where);
  /// Whether it matches the whole text.
  bool matches(std::string_view text) const;

  struct Set {
    std::vector<std::pair<uint32_t, uint32_t>> ranges;  ///< of code points, ends included
    bool negated = false;
    bool has(uint32_t c) const;
  };
  struct Step {
    enum class Kind : uint8_t { set, split, jump, begin, end, word_edge, no_word_edge, match } kind = Kind::match;
    size_t a = 0, b = 0;  ///< set: its number; split: the two next steps; jump: the next step
  };

 private:
  std::vector<Set> sets_;
  std::vector<Step> steps_;
};

}  // namespace tenon::ops
