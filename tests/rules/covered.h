// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace tenon::rules {

/// A rewrite of a catalogue for which there is no rule, because nothing that it could match ever is in a graph.
struct Covered {
  std::string_view seed;  ///< without the suffix Pattern
  std::string_view by;    ///< what does it instead
};

inline constexpr Covered kCovered[] = {
    {"ConstantToInitializer", "import: constants are values here, never nodes"},
};

}  // namespace tenon::rules
