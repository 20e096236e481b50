// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace tenon::ir {

/// Allocates memory for many slots, in huge pages where it is large enough: a graph of 100,000 nodes has 50 MB, and with small pages half
/// of the time of a walk over it goes into TLB misses. Free it with free_pages().
void* allocate_pages(size_t bytes, size_t alignment);
void free_pages(void* memory, size_t bytes, size_t alignment);

/// Slots that never move, in blocks of 32. Growing is O(1) amortised (half as many blocks again at a time), nothing shrinks.
template <class T>
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (size_t i = 0; i < size_; ++i) std::destroy_at(&(*this)[i]);
    for (size_t first = 0; first < blocks_.size(); first += chunk_blocks(first)) free_pages(blocks_[first], chunk_bytes(first), alignof(T));
  }
  size_t size() const { return size_; }
  T& operator[](size_t i) const { return blocks_[i / kBlock][i % kBlock]; }
  /// Adds a slot with a default-constructed item.
  T& add() {
    if (size_ == blocks_.size() * kBlock) add_blocks();
    return *std::construct_at(&(*this)[size_++]);
  }

 private:
  static constexpr size_t kBlock = 32;  ///< slots
  /// The number of blocks that are allocated together when there are `block_count` already.
  static size_t chunk_blocks(size_t block_count) { return std::max<size_t>(1, block_count / 2); }
  static size_t chunk_bytes(size_t block_count) { return chunk_blocks(block_count) * kBlock * sizeof(T); }
  void add_blocks() {
    const size_t first = blocks_.size();
    auto* memory = static_cast<T*>(allocate_pages(chunk_bytes(first), alignof(T)));
    for (size_t k = 0; k < chunk_blocks(first); ++k) blocks_.push_back(memory + k * kBlock);
  }
  std::vector<T*> blocks_;
  size_t size_ = 0;
};

}  // namespace tenon::ir
