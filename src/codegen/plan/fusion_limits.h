// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon::codegen {

/// How far planning fuses, as data.
struct FusionLimits {
  size_t readers = 64;   ///< a value with more readers is stored
  size_t accesses = 24;  ///< a nest with more loads gains nothing from another
  /// A product multiplies its panels by a factor of its depth, instead of reading rows that were multiplied by it and stored, where so many
  /// rows at least share the factor and it makes so many lanes at most (Zen 5: 49 rows gain with 320 lanes).
  int64_t scaled_rows = 14, scaled_lanes = 1024;
  size_t nests = 10;     ///< that share a kernel over the same rows
  size_t look_back = 8;  ///< groups among which a producer over the same rows is looked for
  /// Operations that a mask may cost each score of attention; the score's products cost twice a head's size (64 to 128 multiply-adds).
  int mask_work = 24;
  /// And where the mask would take a number a score otherwise: no more than the products.
  int mask_work_for_memory = 64;
  int transcendental_work = 12;  ///< operations that a transcendental function counts as
  int64_t small_mask = 1 << 16;  ///< elements that are stored rather than computed again
  // Winograd's convolutions: floating point operations in the time of a byte, of what is written and read between its steps (in memory,
  // where an array there is larger than caches keep), and of transformed weights, which a small image reads from memory; and those that
  // the body of an output's sum may have beside it. Measured on Zen 5.
  double work_of_moved_byte = 4, work_of_memory_byte = 12, work_of_weight_byte = 7;
  int64_t kept_bytes = 20 << 20;
  int tile_body = 6;
  double tile_contrast = 24;  ///< of a tile and its weakest block of 2x2, see PlainTiles; 9: all are alike
  // Regions: bytes that a part hands on from kernel to kernel, and those of the weights that each part reads, both in one second-level
  // cache; bytes that they move at most for one that stays there (0: any); rows that fill the register tiles of a part; operations of a
  // loop that are worth a task; units from which on the shares of two threads are equal enough where they are odd.
  int64_t region_bytes = 3 << 17, region_weights = 5 << 17, region_moved = 8, region_rows = 14, region_work = 4096, region_units = 25;
  int64_t usual_image = 224;  ///< rows and columns of an input whose size only the run knows
};

}  // namespace tenon::codegen
