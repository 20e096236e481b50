// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/text/symbols.h"

namespace tenon::llm {

/// Which pairs of tokens become which token, and in which order: the ranks of byte pair encoding.
class Merges {
 public:
  /// Makes room for as many.
  void reserve(size_t count);
  /// The next one; of equal pairs the last counts.
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
