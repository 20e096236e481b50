// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ops/text/pattern.h"

namespace tenon::ops {

/// A node of the syntax tree of a pattern: a set of letters, an assertion (^, \b), or a combination of other parts.
struct PatternPart {
  enum class Kind : uint8_t { set, edge, sequence, choice, repeat } kind = Kind::sequence;
  TextPattern::Set set;
  TextPattern::Step::Kind edge = TextPattern::Step::Kind::begin;
  std::vector<PatternPart> parts;
  int least = 0, most = -1;  ///< of a repeat; -1: any number
};

/// Parses the syntax that TextPattern::parse accepts. Errors: those of it but for the number of steps.
Result<PatternPart> read_pattern(std::string_view pattern, const std::string& where);

}  // namespace tenon::ops
