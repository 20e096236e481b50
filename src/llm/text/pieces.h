// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/text/regex.h"

namespace tenon::llm {

/// A text during tokenization, and the parts (pre-tokens) of it that are encoded separately.
struct Pieces {
  std::string text;               ///< sound UTF-8
  std::vector<TextRange> ranges;  ///< the pieces, in order; none is empty
  bool at_start = true;           ///< the first piece begins where the caller's text does

  std::string_view piece(TextRange range) const { return std::string_view(text).substr(range.begin, range.size()); }
};

/// Where the delimiters at which a piece is split go. Source: the documentation of PyPI tokenizers (SplitDelimiterBehavior).
enum class SplitBehavior : uint8_t { removed, isolated, merged_with_previous, merged_with_next, contiguous };

using Finder = std::function<Result<std::vector<TextRange>>(std::string_view piece)>;
/// Finders of occurrences of a text, of characters for which `is_one` is true, and of matches of a regular expression.
Finder find_text(std::string text);
Finder find_characters(std::function<bool(uint32_t)> is_one);
Finder find_regex(Regex regex);

/// Splits each piece by what `find` finds in it; inverted, by what lies between. Cost: linear, and that of `find`.
Result<void> split_pieces(Pieces& pieces, const Finder& find, SplitBehavior behavior, bool inverted = false);

/// Replaces each piece by what `rewrite` appends for it; the second argument is true for the first piece of the caller's text.
void rewrite_pieces(Pieces& pieces, const std::function<void(std::string_view piece, bool at_start, std::string& out)>& rewrite);

}  // namespace tenon::llm
