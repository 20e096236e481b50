// SPDX-License-Identifier: Apache-2.0
#include "llm/text/merges.h"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>

#include "files/printable.h"

namespace tenon::llm {
namespace {

constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio: Knuth, volume 3, section 6.4

uint64_t pair_of(TokenId left, TokenId right) { return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right); }

}  // namespace

void Merges::reserve(size_t count) { grow(std::bit_ceil(2 * count + 16)); }

size_t Merges::slot_of(uint64_t pair) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = static_cast<size_t>((pair * kMultiplier) >> 20) & mask;
  while (slots_[slot].pair != kEmpty && slots_[slot].pair != pair) slot = (slot + 1) & mask;
  return slot;
}

void Merges::grow(size_t slots) {
  if (slots <= slots_.size()) return;
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : old)
    if (slot.pair != kEmpty) slots_[slot_of(slot.pair)] = slot;
}

Result<void> Merges::add(std::string_view left, std::string_view right, const Vocabulary& vocabulary, std::string_view place) {
  if (left.empty() || right.empty())
    return fail(Code::bad_file, std::string(place), fmt::format("merge {} is cyclic: it has an empty part", ranks_))
        .expected("two tokens")
        .found(fmt::format("'{}' and '{}'", files::printable(left), files::printable(right)));
  const TokenId a = vocabulary.find(left), b = vocabulary.find(right), both = vocabulary.find(std::string(left) + std::string(right));
  if (a == kNoToken || b == kNoToken || both == kNoToken)
    return fail(Code::bad_file, std::string(place), fmt::format("merge {} is unknown to the vocabulary", ranks_))
        .expected("two tokens that are a token together")
        .found(fmt::format("'{}' and '{}'; {} is no token", files::printable(left), files::printable(right),
                           a == kNoToken   ? "the first"
                           : b == kNoToken ? "the second"
                                           : "what they are together"));
  if (2 * (size_t{ranks_} + 1) > slots_.size()) grow(std::bit_ceil(4 * size_t{ranks_} + 16));
  slots_[slot_of(pair_of(a, b))] = {pair_of(a, b), ranks_++, both};
  return {};
}

Merge Merges::find(TokenId left, TokenId right) const {
  if (slots_.empty() || left == kNoToken || right == kNoToken) return {};
  const Slot& slot = slots_[slot_of(pair_of(left, right))];
  return {static_cast<double>(slot.rank), slot.id};
}

}  // namespace tenon::llm
