// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon::ir {

/// A vector of trivially copyable items that stores up to `N` of them inline (like llvm::SmallVector): nearly all nodes have few operands
/// and values few uses. Larger lists are on the heap. Converts to std::vector.
template <class T, uint32_t N>
class SmallList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallList() {}
  SmallList(std::initializer_list<T> items) : SmallList(std::span(items.begin(), items.size())) {}
  SmallList(std::span<const T> items) {  // NOLINT: any contiguous range of T
    reserve(static_cast<uint32_t>(items.size()));
    std::copy(items.begin(), items.end(), data());
    size_ = static_cast<uint32_t>(items.size());
  }
  SmallList(const std::vector<T>& items) : SmallList(std::span<const T>(items)) {}  // NOLINT
  SmallList(const SmallList& other) : SmallList(std::span<const T>(other)) {}
  SmallList(SmallList&& other) noexcept { take(other); }
  SmallList& operator=(const SmallList& other) {
    if (this != &other) *this = SmallList(other);
    return *this;
  }
  SmallList& operator=(SmallList&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~SmallList() { release(); }
  operator std::vector<T>() const { return {begin(), end()}; }  // NOLINT

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return is_inline() ? inline_items() : heap_; }
  const T* data() const { return is_inline() ? inline_items() : heap_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(uint32_t capacity) {
    if (capacity <= capacity_) return;
    capacity = std::max(capacity, 2 * capacity_);
    T* to = static_cast<T*>(::operator new(capacity * sizeof(T)));
    std::copy(begin(), end(), to);
    release();
    heap_ = to;
    capacity_ = capacity;
  }
  void push_back(T item) {
    reserve(size_ + 1);
    data()[size_++] = item;
  }
  void pop_back() {
    --size_;
    if (size_ == 0) clear();
  }
  /// Also frees the heap memory.
  void clear() {
    release();
    capacity_ = N;
    size_ = 0;
  }
  void assign(size_t count, T item) {
    clear();
    reserve(static_cast<uint32_t>(count));
    std::fill_n(data(), count, item);
    size_ = static_cast<uint32_t>(count);
  }
  void insert(const T* before, T item) {
    const auto at = before - begin();
    push_back(item);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(const T* item) {
    std::copy(item + 1, static_cast<const T*>(end()), begin() + (item - begin()));
    pop_back();
  }
  friend bool operator==(const SmallList& a, const SmallList& b) { return std::ranges::equal(a, b); }
  friend bool operator==(const SmallList& a, const std::vector<T>& b) { return std::ranges::equal(a, b); }

 private:
  static constexpr size_t kBytes = std::max(N * sizeof(T), sizeof(T*));
  bool is_inline() const { return capacity_ == N; }
  T* inline_items() { return reinterpret_cast<T*>(bytes_); }
  const T* inline_items() const { return reinterpret_cast<const T*>(bytes_); }
  void release() {
    if (!is_inline()) ::operator delete(heap_);
  }
  void take(SmallList& other) {
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, N);
    std::memcpy(bytes_, other.bytes_, kBytes);
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = N;  ///< N: the items are inline
  union {
    T* heap_;
    alignas(T*) std::byte bytes_[kBytes];
  };
};

}  // namespace tenon::ir
