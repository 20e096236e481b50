// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tenon::llm {

/// Unicode's general categories, those of marks, punctuation and symbols together but for Sk.
enum class CharacterKind : uint8_t {
  unassigned,
  upper,
  lower,
  title,
  letter_modifier,
  letter,
  mark_nonspacing,
  mark,
  digit,
  number,
  punctuation,
  symbol_modifier,
  symbol,
  space,
  separator,
  control,
  format,
  surrogate,
  private_use,
};
CharacterKind kind_of(uint32_t code);

/// The simple mappings: one character to one. Source: UnicodeData.txt, by utf8proc's tables.
uint32_t upper_character(uint32_t code);
uint32_t lower_character(uint32_t code);
uint32_t title_character(uint32_t code);

}  // namespace tenon::llm
