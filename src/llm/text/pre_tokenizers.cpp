// SPDX-License-Identifier: Apache-2.0
#include "llm/text/pre_tokenizers.h"

#include <string_view>
#include <utility>

#include "llm/text/byte_alphabet.h"
#include "llm/text/unicode.h"

namespace tenon::llm {
namespace {

/// Source: the pattern of https://github.com/openai/gpt-2/blob/master/src/encoder.py.
constexpr std::string_view kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// The finder of a pattern of this file; it can fail only for lack of memory, which the first text reports.
Finder find_own(std::string_view pattern) {
  return [regex = Regex::compile(pattern, "tokenizer")](std::string_view piece) -> Result<std::vector<TextRange>> {
    if (!regex) return std::unexpected(regex.error());
    return regex->matches(piece);
  };
}

bool is_ascii_punctuation(uint32_t code) {
  return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') || (code >= '[' && code <= '`') || (code >= '{' && code <= '~');
}

}  // namespace

PreTokenizer split_by(Finder find, SplitBehavior behavior, bool inverted) {
  return [find = std::move(find), behavior, inverted](Pieces& pieces) { return split_pieces(pieces, find, behavior, inverted); };
}

PreTokenizer byte_level(bool prefix_space, bool use_regex) {
  return [prefix_space, use_regex, find = find_own(kGpt2Pattern)](Pieces& pieces) -> Result<void> {
    if (prefix_space)
      rewrite_pieces(pieces, [](std::string_view piece, bool, std::string& out) {
        if (!piece.starts_with(' ')) out += ' ';
        out += piece;
      });
    if (use_regex) TRY(split_pieces(pieces, find, SplitBehavior::isolated));
    rewrite_pieces(pieces, [](std::string_view piece, bool, std::string& out) { append_byte_characters(out, piece); });
    return {};
  };
}

PreTokenizer digits(bool individual) {
  return split_by(find_characters(is_number), individual ? SplitBehavior::isolated : SplitBehavior::contiguous);
}

PreTokenizer metaspace(std::string replacement, PrependScheme prepend, bool split) {
  const Finder find = find_text(replacement);
  return [replacement = std::move(replacement), prepend, split, find](Pieces& pieces) -> Result<void> {
    rewrite_pieces(pieces, [&](std::string_view piece, bool at_start, std::string& out) {
      const bool has_space = piece.starts_with(' ') || piece.starts_with(replacement);
      if (!has_space && (prepend == PrependScheme::always || (prepend == PrependScheme::first && at_start))) out += replacement;
      for (const char c : piece) {
        if (c == ' ') out += replacement;
        else out += c;
      }
    });
    if (split) TRY(split_pieces(pieces, find, SplitBehavior::merged_with_next));
    return {};
  };
}

PreTokenizer punctuation(SplitBehavior behavior) {
  return split_by(find_characters([](uint32_t code) { return is_ascii_punctuation(code) || is_punctuation(code); }), behavior);
}

PreTokenizer white_space(bool words) {
  if (words) return split_by(find_own(R"(\w+|[^\w\s]+)"), SplitBehavior::removed, true);
  return split_by(find_characters(is_space), SplitBehavior::removed);
}

}  // namespace tenon::llm
