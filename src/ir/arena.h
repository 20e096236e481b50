// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace tenon::ir {

/// Memory for many slots, from the system in huge pages where that is worth it: a graph of 100,000 nodes is 50 MB that is walked again
/// and again, and with small pages half of such a walk is spent on looking addresses up. Given back by `give_back`.
void* take_memory(size_t bytes, size_t alignment);
void give_back(void* memory, size_t bytes, size_t alignment);

/// Slots that never move, in blocks of 32. Growing is O(1) amortised (half as many blocks again at a time), nothing shrinks.
template <class T>
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (size_t i = 0; i < size_; ++i) std::destroy_at(&(*this)[i]);
    for (size_t first = 0; first < blocks_.size(); first += blocks_after(first)) give_back(blocks_[first], bytes_of(first), alignof(T));
  }
  size_t size() const { return size_; }
  T& operator[](size_t i) const { return blocks_[i / kBlock][i % kBlock]; }
  T& grow() {
    if (size_ == blocks_.size() * kBlock) add_blocks();
    return *std::construct_at(&(*this)[size_++]);
  }

 private:
  static constexpr size_t kBlock = 32;
  /// How many blocks are taken at once when there are `first` already.
  static size_t blocks_after(size_t first) { return std::max<size_t>(1, first / 2); }
  static size_t bytes_of(size_t first) { return blocks_after(first) * kBlock * sizeof(T); }
  void add_blocks() {
    const size_t first = blocks_.size();
    auto* memory = static_cast<T*>(take_memory(bytes_of(first), alignof(T)));
    for (size_t k = 0; k < blocks_after(first); ++k) blocks_.push_back(memory + k * kBlock);
  }
  std::vector<T*> blocks_;
  size_t size_ = 0;
};

}  // namespace tenon::ir
