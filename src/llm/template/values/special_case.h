// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace tenon::llm::jinja {

/// A character whose upper or title case has several characters. Source: Unicode's SpecialCasing.txt, the unconditional lines.
struct SpecialCase {
  char32_t character;
  std::string_view upper, title;
};
/// nullptr where the character has none.
const SpecialCase* special_case(char32_t character);

}  // namespace tenon::llm::jinja
