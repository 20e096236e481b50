// SPDX-License-Identifier: Apache-2.0
#include "llm/text/byte_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm/text/utf8.h"

namespace tenon::llm {

void BytePairs::prepare() {
  for (size_t byte = 0; byte < bytes_.size(); ++byte) bytes_[byte] = vocabulary.find(fmt::format("<0x{:02X}>", byte));
  for (uint32_t code = 0; code < characters_.size(); ++code) {
    std::string character;
    append_utf8(character, code);
    characters_[code] = vocabulary.find(character);
  }
}

std::optional<unsigned char> BytePairs::byte_of(TokenId id) const {
  const auto found = std::find(bytes_.begin(), bytes_.end(), id);
  if (id == kNoToken || found == bytes_.end()) return std::nullopt;
  return static_cast<unsigned char>(found - bytes_.begin());
}

bool BytePairs::add_bytes(std::string_view character, uint32_t begin, std::vector<Symbol>& symbols) const {
  const auto token_of = [&](char c) { return bytes_[static_cast<unsigned char>(c)]; };
  if (!byte_fallback || std::any_of(character.begin(), character.end(), [&](char c) { return token_of(c) == kNoToken; })) return false;
  for (uint32_t i = 0; i < character.size(); ++i) symbols.push_back({token_of(character[i]), begin + i, 1});
  return true;
}

/// A symbol each character that is a token, else its bytes, else the unknown token.
void BytePairs::first_symbols(std::string_view word, std::vector<Symbol>& symbols) const {
  Symbol unknown_symbol;  // until the next character that is a token
  const auto flush = [&] {
    if (unknown_symbol.length != 0) symbols.push_back(unknown_symbol);
    unknown_symbol = {};
  };
  const bool by_score = !scores.empty();
  for (uint32_t at = 0; at < word.size();) {
    const Utf8Step step = utf8_step(word, at);
    const std::string_view character = word.substr(at, step.length);
    const TokenId id = step.code < characters_.size() && step.valid ? characters_[step.code] : vocabulary.find(character);
    if (id != kNoToken || by_score) {
      flush();
      symbols.push_back({id, at, step.length});
    } else if (!add_bytes(character, at, symbols) && unknown != kNoToken) {
      if (!fuse_unknown) flush();
      if (unknown_symbol.length == 0) unknown_symbol = {unknown, at, 0};
      unknown_symbol.length += step.length;
    }
    at += step.length;
  }
  flush();
}

void BytePairs::encode(std::string_view word, MergeQueue& queue, std::vector<TokenId>& out) const {
  if (whole_words)
    if (const TokenId id = vocabulary.find(word); is_free(id)) return out.push_back(id);
  queue.symbols.clear();
  first_symbols(word, queue.symbols);
  if (scores.empty()) {
    merge_symbols(queue, [&](const Symbol& a, const Symbol& b) { return merges.find(a.id, b.id); });
  } else {
    merge_symbols(queue, [&](const Symbol& a, const Symbol& b) -> Merge {
      const TokenId id = vocabulary.find(word.substr(a.begin, a.length + b.length));
      return !is_free(id) ? Merge{} : Merge{-static_cast<double>(scores[static_cast<size_t>(id)]), id};
    });
  }
  std::vector<Symbol> bytes;
  for (const Symbol& symbol : queue.symbols) {
    if (symbol.length == 0) continue;
    bytes.clear();
    if (symbol.id != kNoToken) out.push_back(symbol.id);
    else if (add_bytes(word.substr(symbol.begin, symbol.length), symbol.begin, bytes))
      for (const Symbol& byte : bytes) out.push_back(byte.id);
    else if (unknown != kNoToken) out.push_back(unknown);
  }
}

}  // namespace tenon::llm
