// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/text/symbols.h"

namespace tenon::llm {

/// The merge table of byte pair encoding: for a pair of tokens the token that they become, and the pair's rank.
class Merges {
 public:
  /// Reserves memory for `count` merges.
  void reserve(size_t count);
  /// Adds a merge of the next rank; of equal pairs the last one is valid.
  /// Errors: bad_file (a part or what both become is no token; an empty part, which could be merged for ever).
  Result<void> add(std::string_view left, std::string_view right, const Vocabulary& vocabulary, std::string_view place);

  /// Cost: constant.
  Merge find(TokenId left, TokenId right) const;
  size_t count() const { return ranks_; }

 private:
  struct Slot {
    uint64_t pair = kEmpty;
    uint32_t rank = 0;
    TokenId id = kNoToken;
  };
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  size_t slot_of(uint64_t pair) const;
  void grow(size_t slots);

  std::vector<Slot> slots_;  // open addressing; a power of two, at most half of it used
  uint32_t ranks_ = 0;
};

}  // namespace tenon::llm
