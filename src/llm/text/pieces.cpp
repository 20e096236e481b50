// SPDX-License-Identifier: Apache-2.0
#include "llm/text/pieces.h"

#include <utility>

#include "llm/text/find_substring.h"
#include "llm/text/utf8.h"

namespace tenon::llm {
namespace {

struct Part {
  TextRange range;
  bool match = false;
};

/// The whole piece: the matches and what lies between.
std::vector<Part> parts_of(size_t size, const std::vector<TextRange>& matches, bool inverted) {
  std::vector<Part> out;
  size_t end = 0;
  for (const TextRange& match : matches) {
    if (match.begin > end) out.push_back({{end, match.begin}, inverted});
    out.push_back({match, !inverted});
    end = match.end;
  }
  if (end < size) out.push_back({{end, size}, inverted});
  return out;
}

/// Parts that belong together become one; which of two neighbors do depends on whether they match.
template <class Joins>
std::vector<Part> joined(const std::vector<Part>& parts, Joins joins) {
  std::vector<Part> out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && joins(parts[i - 1].match, parts[i].match)) out.back().range.end = parts[i].range.end;
    else out.push_back({parts[i].range, false});
  }
  return out;
}

std::vector<Part> pieces_of(std::vector<Part> parts, SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::isolated:
      for (Part& part : parts) part.match = false;
      return parts;
    case SplitBehavior::removed: return parts;
    case SplitBehavior::merged_with_previous: return joined(parts, [](bool previous, bool match) { return match && !previous; });
    case SplitBehavior::merged_with_next: return joined(parts, [](bool previous, bool match) { return previous && !match; });
    case SplitBehavior::contiguous: return joined(parts, [](bool previous, bool match) { return previous == match; });
  }
  return parts;
}

}  // namespace

Finder find_text(std::string text) {
  return [text = std::move(text)](std::string_view piece) -> Result<std::vector<TextRange>> {
    std::vector<TextRange> out;
    if (text.empty()) return out;
    for (size_t at = find_substring(piece, text); at != std::string_view::npos; at = find_substring(piece, text, at + text.size()))
      out.push_back({at, at + text.size()});
    return out;
  };
}

Finder find_characters(std::function<bool(uint32_t)> is_one) {
  return [is_one = std::move(is_one)](std::string_view piece) -> Result<std::vector<TextRange>> {
    std::vector<TextRange> out;
    for (size_t at = 0; at < piece.size();) {
      const Utf8Step step = utf8_step(piece, at);
      if (is_one(step.code)) out.push_back({at, at + step.length});
      at += step.length;
    }
    return out;
  };
}

Finder find_regex(Regex regex) {
  return [regex = std::move(regex)](std::string_view piece) { return regex.matches(piece); };
}

Result<void> split_pieces(Pieces& pieces, const Finder& find, SplitBehavior behavior, bool inverted) {
  std::vector<TextRange> out;
  out.reserve(pieces.ranges.size());
  for (const TextRange& range : pieces.ranges) {
    const auto matches = TRY(find(pieces.piece(range)));
    for (const Part& part : pieces_of(parts_of(range.size(), matches, inverted), behavior))
      if (!part.match && part.range.size() != 0) out.push_back({range.begin + part.range.begin, range.begin + part.range.end});
  }
  pieces.ranges = std::move(out);
  return {};
}

void rewrite_pieces(Pieces& pieces, const std::function<void(std::string_view, bool, std::string&)>& rewrite) {
  Pieces out;
  out.text.reserve(pieces.text.size() + pieces.text.size() / 4);
  out.ranges.reserve(pieces.ranges.size());
  out.at_start = pieces.at_start;
  for (const TextRange& range : pieces.ranges) {
    const size_t begin = out.text.size();
    rewrite(pieces.piece(range), pieces.at_start && range.begin == 0, out.text);
    if (out.text.size() != begin) out.ranges.push_back({begin, out.text.size()});
  }
  pieces = std::move(out);
}

}  // namespace tenon::llm
