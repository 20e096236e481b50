// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/tiles.h"

namespace tenon::codegen {
namespace {

struct Tiles {
  Tile contract, attention;
};

// Share of the FMA peak measured beside it, hot, K = 768, f32, B packed, rows of A at a padded stride, AVX-512 on Zen 4 with the code of
// LLVM 22 (bench/microkernel.cpp prints it again):
//   14x2 99.8  13x2 99.8  12x2 99.9  10x2 99.9  9x3 99.8  8x3 99.8  6x4 99.9  5x4 100.0  4x4 100.0  4x6 99.8  24x1 99.8
//   2x8 93.3   1x8 47.9   1x4 49.1 (one row uses each vector of B once: the loads are the limit)
//   7x4 spills (49): rows * vectors + vectors + 1 is above the 32 registers.
// AVX2 on the same machine:
//   6x2 99.9  4x3 100.0  5x2 95.3  4x2 93.6  2x4 92.6  1x8 49.2
constexpr Tiles kAvx512 = {.contract = {14, 2}, .attention = {8, 2}};
constexpr Tiles kAvx2 = {.contract = {6, 2}, .attention = {4, 2}};

const Tiles& tiles_of(const Target& target) { return target.registers >= 32 ? kAvx512 : kAvx2; }

}  // namespace

Tile contract_tile(const Target& target) { return tiles_of(target).contract; }
Tile attention_tile(const Target& target) { return tiles_of(target).attention; }

}  // namespace tenon::codegen
