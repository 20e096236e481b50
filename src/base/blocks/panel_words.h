// SPDX-License-Identifier: Apache-2.0
/// Words of 32 bits that hold a block's codes of 2 to 6 bits, and the integers of its sub-blocks, for one lane of a product's panel.
/// First the codes: `code_bits` words for 32 of them. Their lower 4 bits (2, of fewer than 4) come first, then the upper ones. Four codes
/// that follow each other lie in the four bytes of a word, so that both parts of them meet in a word by one shift and one mask each.
/// Then the integers of all sub-blocks, the first one in the lowest bits of the first word.
#pragma once
#include <algorithm>

#include "base/blocks/block_format.h"

namespace tenon::inline base {

inline constexpr int kWordBits = 32;
inline constexpr int kCodesOfUnit = 32;  ///< codes that fill `code_bits` words

inline constexpr int kCodesOfSet = 4;  ///< codes in the bytes of a word

/// Bits of a code. A word holds 8 / bits sets of four codes: of code k the field is in word `first_word + k * bits / 32` of the unit.
struct CodeField {
  int bits;        ///< 1, 2 or 4; 0: the field is empty
  int first_word;  ///< of a unit
  int position;    ///< of the field's lowest bit in the code

  int codes_of_word() const { return kWordBits / bits; }
  /// The lowest bit in the word of code k of a word.
  int bit_of(int k) const { return k % kCodesOfSet * 8 + k / kCodesOfSet * bits; }
};

inline CodeField low_field(int code_bits) { return {code_bits < 4 ? 2 : 4, 0, 0}; }
inline CodeField high_field(int code_bits) {
  const int low = low_field(code_bits).bits;
  return {code_bits - low, low, low};
}

/// Codes lie in words; else in bytes.
inline bool is_in_words(const LinearBlocks& linear) { return linear.code_bits < 8; }
/// Words of a block's codes alone.
inline int code_words(const BlockFormat& format) { return format.elements / kCodesOfUnit * format.linear->code_bits; }
inline int integer_words(const BlockFormat& format) {
  const SubBlocks* const sub = format.linear->sub_blocks;
  return sub ? format.elements / sub->elements * sub->bits() / kWordBits : 0;
}
/// Of a block with codes in words.
inline int panel_words(const BlockFormat& format) { return code_words(format) + integer_words(format); }
/// Elements that share a stored scale.
inline int scale_elements(const BlockFormat& format) {
  return format.linear->scale_elements > 0 ? format.linear->scale_elements : format.elements;
}
/// Neighbours along a row that share one scale where the other operand of a product is rounded to bytes: at most 32, and no more than share
/// one of this format.
inline int rounded_run(const BlockFormat& format) {
  const SubBlocks* const sub = format.linear->sub_blocks;
  return std::min(32, sub ? sub->elements : scale_elements(format));
}
/// Stored numbers beside each other: the scale, and the minimum where one is stored.
inline int scale_parts(const BlockFormat& format) { return format.linear->has_minimum ? 2 : 1; }

}  // namespace tenon::inline base
