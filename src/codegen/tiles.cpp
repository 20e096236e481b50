// SPDX-License-Identifier: Apache-2.0
#include "codegen/tiles.h"

#include <algorithm>

#include "base/checked.h"

namespace tenon::codegen {
namespace {

// Share of the FMA peak measured beside it, hot, K = 768, f32, B packed, rows of A at a padded stride, AVX-512 on Zen 4 with the code of
// LLVM 22 (bench/microkernel.cpp prints it again):
//   14x2 99.8  13x2 99.8  12x2 99.9  10x2 99.9  9x3 99.8  8x3 99.8  6x4 99.9  5x4 100.0  4x4 100.0  4x6 99.8  24x1 99.8
//   2x8 93.3   1x8 47.9   1x4 49.1 (one row uses each vector of B once: the loads are the limit)
//   7x4 spills (49): rows * vectors + vectors + 1 is above the 32 registers.
// AVX2 on the same machine:
//   6x2 99.9  4x3 100.0  5x2 95.3  4x2 93.6  2x4 92.6  1x8 49.2
constexpr Tile kAvx512[] = {{14, 2}, {12, 2}, {8, 3}, {6, 4}, {4, 4}, {2, 8}, {1, 8}, {1, 4}};
constexpr Tile kAvx2[] = {{6, 2}, {4, 3}, {2, 4}, {1, 8}, {1, 4}};

}  // namespace

std::span<const Tile> tiles_of(const Target& target) {
  return target.isa == Target::Isa::avx512 ? std::span<const Tile>(kAvx512) : std::span<const Tile>(kAvx2);
}

Tile tile_for(const Target& target, int64_t rows, int64_t columns) {
  const int most = target.isa == Target::Isa::avx512 ? 14 : 6;
  const int64_t wanted = columns > 0 ? ceil_div(columns, target.lanes()) : 2;
  const int vectors = static_cast<int>(std::clamp<int64_t>(wanted, 1, 2));
  if (rows <= 0) return {most, vectors};
  const int64_t passes = std::max<int64_t>(1, ceil_div(rows, most));
  return {static_cast<int>(std::clamp<int64_t>(ceil_div(rows, passes), 1, most)), vectors};
}

}  // namespace tenon::codegen
