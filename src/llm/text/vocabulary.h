// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::llm {

using TokenId = int32_t;
constexpr TokenId kNoToken = -1;
constexpr int64_t kMostTokens = int64_t{1} << 24;

/// Texts of tokens by their ids, and ids by texts. Ids may have gaps.
class Vocabulary {
 public:
  /// Reserves memory for `count` tokens.
  void reserve(size_t count);
  /// Errors: bad_file (the text or the id is there already), limit_exceeded (an id of kMostTokens or more, 4 GB of texts).
  Result<void> add(std::string_view text, int64_t id, std::string_view place);

  /// kNoToken where there is none. Cost: constant.
  TokenId find(std::string_view text) const;
  bool has(TokenId id) const { return id >= 0 && static_cast<size_t>(id) < entries_.size() && entries_[static_cast<size_t>(id)].present; }
  /// "" where there is no such token. Valid until the next add().
  std::string_view text(TokenId id) const;
  /// One more than the highest id.
  size_t size() const { return entries_.size(); }
  size_t count() const { return count_; }
  /// Bytes of the longest text.
  size_t longest() const { return longest_; }

 private:
  struct Entry {
    uint32_t begin = 0, length = 0;
    bool present = false;
  };
  size_t slot_of(std::string_view text) const;
  void grow(size_t slots);

  std::string bytes_;           // all texts
  std::vector<Entry> entries_;  // by id
  std::vector<TokenId> slots_;  // open addressing; a power of two, at most half of it used
  size_t count_ = 0, longest_ = 0;
};

}  // namespace tenon::llm
