// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace tenon::rules {

/// A pattern of yobx that no rule here covers, because no graph here has what it would match.
struct PatternWithoutRule {
  std::string_view name;         ///< without the suffix Pattern
  std::string_view replaced_by;  ///< the part of the compiler that makes it unnecessary
};

inline constexpr PatternWithoutRule kPatternsWithoutRule[] = {
    {"ConstantToInitializer", "import: constants are values here, never nodes"},
};

}  // namespace tenon::rules
