// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace tenon::ir {

/// Slots that never move, in blocks of 32. Growing is O(1), nothing shrinks.
template <class T>
class Arena {
 public:
  size_t size() const { return size_; }
  T& operator[](size_t i) const { return blocks_[i / kBlock][i % kBlock]; }
  T& grow() {
    if (size_ % kBlock == 0) blocks_.push_back(std::make_unique<T[]>(kBlock));
    return (*this)[size_++];
  }

 private:
  static constexpr size_t kBlock = 32;
  std::vector<std::unique_ptr<T[]>> blocks_;
  size_t size_ = 0;
};

}  // namespace tenon::ir
