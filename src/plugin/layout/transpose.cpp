// SPDX-License-Identifier: Apache-2.0
#include "plugin/layout/transpose.h"

#include <algorithm>
#include <array>

namespace tenon::plugin {

namespace {

constexpr int64_t kBlock = 32;       ///< rows and columns that are moved together: what is read and written stays in the nearest cache
constexpr int64_t kGrain = 1 << 14;  ///< bytes that are worth another thread

template <class T>
void move_block(const T* from, T* to, int64_t rows, int64_t columns, int64_t row, int64_t column) {
  const int64_t last_row = std::min(rows, row + kBlock), last_column = std::min(columns, column + kBlock);
  for (int64_t c = column; c < last_column; ++c)
    for (int64_t r = row; r < last_row; ++r) to[c * rows + r] = from[r * columns + c];
}

template <class T>
void transpose_as(const T* from, T* to, int64_t batch, int64_t rows, int64_t columns, ThreadPool* thread_pool, int threads) {
  const int64_t strips = (rows + kBlock - 1) / kBlock;
  const auto move = [&](int64_t begin, int64_t end, int) {
    for (int64_t k = begin; k < end; ++k)
      for (int64_t column = 0; column < columns; column += kBlock)
        move_block(from + k / strips * rows * columns, to + k / strips * rows * columns, rows, columns, k % strips * kBlock, column);
  };
  if (!thread_pool) return move(0, batch * strips, 0);
  thread_pool->run(batch * strips, std::max<int64_t>(1, kGrain / (kBlock * columns * static_cast<int64_t>(sizeof(T)))), move, threads);
}

}  // namespace

void transpose(const void* from, void* to, int64_t batch, int64_t rows, int64_t columns, int bytes, ThreadPool* thread_pool, int threads) {
  if (batch == 0 || rows == 0 || columns == 0) return;
  const auto as = [&]<class T>(T) {
    transpose_as(static_cast<const T*>(from), static_cast<T*>(to), batch, rows, columns, thread_pool, threads);
  };
  switch (bytes) {
    case 1: return as(uint8_t());
    case 2: return as(uint16_t());
    case 4: return as(uint32_t());
    case 8: return as(uint64_t());
    default: return as(std::array<uint64_t, 2>());
  }
}

}  // namespace tenon::plugin
