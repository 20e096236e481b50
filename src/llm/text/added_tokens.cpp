// SPDX-License-Identifier: Apache-2.0
#include "llm/text/added_tokens.h"

#include <fmt/format.h>

#include <algorithm>

#include "files/printable.h"
#include "llm/text/unicode.h"
#include "llm/text/utf8.h"

namespace tenon::llm {
namespace {

uint64_t edge(uint32_t node, char byte) { return uint64_t{node} << 8 | static_cast<unsigned char>(byte); }

/// The offset of the character that ends at `at`, which is above 0.
size_t before(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

bool is_word(uint32_t code) { return is_letter(code) || is_mark(code) || is_number(code) || code == '_'; }

bool is_within_word(std::string_view text, TextRange range) {
  return (range.begin > 0 && is_word(utf8_step(text, before(text, range.begin)).code)) ||
         (range.end < text.size() && is_word(utf8_step(text, range.end).code));
}

TextRange with_spaces(std::string_view text, TextRange range, const AddedToken& token, size_t least) {
  while (token.strips_left && range.begin > least) {
    const size_t at = before(text, range.begin);
    if (!is_space(utf8_step(text, at).code)) break;
    range.begin = at;
  }
  while (token.strips_right && range.end < text.size()) {
    const Utf8Step step = utf8_step(text, range.end);
    if (!is_space(step.code)) break;
    range.end += step.length;
  }
  return range;
}

}  // namespace

Result<void> AddedTokens::add(const AddedToken& token, std::string_view place) {
  if (token.text.size() > kLongest)
    return fail(Code::limit_exceeded, std::string(place), fmt::format("the added token '{}' is too long", files::printable(token.text)))
        .expected(fmt::format("at most {} bytes", kLongest))
        .found(fmt::format("{}", token.text.size()));
  if (token.text.empty() || sound_utf8(token.text) != token.text) return {};
  uint32_t node = 0;
  for (const char byte : token.text) {
    const auto [child, is_new] = children_.try_emplace(edge(node, byte), static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({});
    nodes_[node].leaf = false;
    node = child->second;
  }
  nodes_[node].token = static_cast<int32_t>(tokens_.size());
  tokens_.push_back(token);
  first_[static_cast<unsigned char>(token.text.front())] = true;
  return {};
}

const AddedToken* AddedTokens::longest_at(std::string_view text, size_t at) const {
  const AddedToken* best = nullptr;
  for (uint32_t node = 0; at < text.size() && !nodes_[node].leaf; ++at) {
    const auto child = children_.find(edge(node, text[at]));
    if (child == children_.end()) break;
    node = child->second;
    if (nodes_[node].token >= 0) best = &tokens_[static_cast<size_t>(nodes_[node].token)];
  }
  return best;
}

std::vector<AddedTokens::Found> AddedTokens::find(std::string_view text, bool special) const {
  std::vector<Found> out;
  if (tokens_.empty()) return out;
  size_t end = 0;  // of the last one with its spaces
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = first_[static_cast<unsigned char>(text[at])] ? longest_at(text, at) : nullptr;
    if (!token) {
      ++at;
      continue;
    }
    const TextRange range{at, at + token->text.size()};
    at = range.end;
    if ((token->special && !special) || range.begin < end || (token->single_word && is_within_word(text, range))) continue;
    out.push_back({with_spaces(text, range, *token, end), token->id});
    end = out.back().range.end;
  }
  return out;
}

}  // namespace tenon::llm
