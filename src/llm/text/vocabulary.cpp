// SPDX-License-Identifier: Apache-2.0
#include "llm/text/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "files/printable.h"

namespace tenon::llm {

void Vocabulary::reserve(size_t count) {
  entries_.reserve(count);
  bytes_.reserve(8 * count);
  grow(std::bit_ceil(2 * count + 16));
}

size_t Vocabulary::slot_of(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = std::hash<std::string_view>{}(text)&mask;
  while (slots_[slot] != kNoToken && this->text(slots_[slot]) != text) slot = (slot + 1) & mask;
  return slot;
}

void Vocabulary::grow(size_t slots) {
  if (slots <= slots_.size()) return;
  slots_.assign(slots, kNoToken);
  for (size_t id = 0; id < entries_.size(); ++id)
    if (entries_[id].present) slots_[slot_of(text(static_cast<TokenId>(id)))] = static_cast<TokenId>(id);
}

Result<void> Vocabulary::add(std::string_view text, int64_t id, std::string_view place) {
  if (id < 0 || id >= kMostTokens || bytes_.size() + text.size() > UINT32_MAX)
    return fail(Code::limit_exceeded, std::string(place), fmt::format("the vocabulary is too large at token '{}'", files::printable(text)))
        .expected(fmt::format("ids from 0 to {}, 4 GB of texts", kMostTokens - 1))
        .found(fmt::format("id {}", id));
  if (2 * (count_ + 1) > slots_.size()) grow(std::bit_ceil(4 * count_ + 16));
  const size_t slot = slot_of(text);
  const auto index = static_cast<size_t>(id);
  if (slots_[slot] != kNoToken || has(static_cast<TokenId>(id)))
    return fail(Code::bad_file, std::string(place), "a token appears twice in the vocabulary")
        .expected("each text and each id once")
        .found(slots_[slot] != kNoToken ? fmt::format("'{}' with ids {} and {}", files::printable(text), slots_[slot], id)
                                        : fmt::format("id {} with '{}' and '{}'", id,
                                                      files::printable(this->text(static_cast<TokenId>(id))), files::printable(text)));
  if (index >= entries_.size()) entries_.resize(index + 1);
  entries_[index] = {static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(text.size()), true};
  bytes_ += text;
  slots_[slot] = static_cast<TokenId>(id);
  ++count_;
  longest_ = std::max(longest_, text.size());
  return {};
}

TokenId Vocabulary::find(std::string_view text) const {
  return slots_.empty() || text.size() > longest_ ? kNoToken : slots_[slot_of(text)];
}

std::string_view Vocabulary::text(TokenId id) const {
  if (!has(id)) return "";
  const Entry& entry = entries_[static_cast<size_t>(id)];
  return std::string_view(bytes_).substr(entry.begin, entry.length);
}

}  // namespace tenon::llm
