// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::llm {

enum class NormalForm : uint8_t { nfc, nfd, nfkc, nfkd };

/// The text, which is UTF-8, in a normal form. Cost: linear, and n log n of marks on one character. Source: Unicode Standard Annex 15;
/// utf8proc's tables (Unicode 15).
std::string normalized(std::string_view text, NormalForm form);
/// Each character's full lower case, without regard to its neighbors: no final sigma. Source: UnicodeData.txt, SpecialCasing.txt.
std::string lower_case(std::string_view text);
/// Whether the character is a combining mark (Mn, Mc, Me); punctuation (P*); a number (N*); a letter (L*).
bool is_mark(uint32_t code);
bool is_punctuation(uint32_t code);
bool is_number(uint32_t code);
bool is_letter(uint32_t code);
/// Whether the character has Unicode's property White_Space.
bool is_space(uint32_t code);

}  // namespace tenon::llm
