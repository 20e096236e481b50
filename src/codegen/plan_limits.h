// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon::codegen {

/// What planning goes by on one target, as data: how far it fuses, and figures of the machine. A value that has a default here holds for
/// any machine; src/codegen/targets gives the others.
struct PlanLimits {
  size_t readers = 64;   ///< a value with more readers is stored
  size_t accesses = 24;  ///< a nest with more loads gains nothing from another
  size_t nests = 10;     ///< that share a kernel over the same rows
  size_t look_back = 8;  ///< groups among which a producer over the same rows is looked for
  /// Operations that a mask may cost each score of attention; the score's products cost twice a head's size (64 to 128 multiply-adds).
  int mask_work = 24;
  /// And where the mask would take a number a score otherwise: no more than the products.
  int mask_work_for_memory = 64;
  int transcendental_work = 12;  ///< operations that a transcendental function counts as
  int64_t small_mask = 1 << 16;  ///< elements that are stored rather than computed again
  int64_t usual_image = 224;     ///< rows and columns of an input whose size only the run gives

  int64_t line_bytes = 0;  ///< of a cache line
  int64_t set_bytes = 0;   ///< addresses that far apart share a set of the first-level cache; 0: rows need no padding
  int64_t tile_rows = 0;   ///< rows of one axis that fill the register tiles
  int64_t row_parts = 0;   ///< parts into which rows are split among tasks: a multiple of the usual numbers of threads
  /// A product multiplies its panels by a factor of its depth, instead of reading rows that were multiplied by it and stored, where so many
  /// rows at least share the factor and it makes so many lanes at most.
  int64_t scaled_rows = 0, scaled_lanes = 0;

  // Winograd's convolutions: floating-point operations in the time of a byte that is written and read between its steps (in memory, where
  // an array there is larger than `kept_bytes`), and of a byte of transformed weights, which a small image reads from memory.
  double work_of_moved_byte = 0, work_of_memory_byte = 0, work_of_weight_byte = 0;
  int64_t kept_bytes = 0;     ///< that caches keep from one step to the next
  int tile_body = 0;          ///< operations that the body of an output's sum may have in addition to it
  double tile_contrast = 24;  ///< of a tile and its weakest block of 2x2, see PlainTiles; 9: all are alike

  // Regions of several kernels.
  int64_t region_bytes = 0, region_weights = 0;  ///< that a part hands on, and of weights that it reads: both in one second-level cache
  int64_t region_moved = 0;                      ///< bytes that kernels move at most for one that stays in that cache; 0: any
  int64_t region_rows = 0;                       ///< that fill the register tiles of a part
  int64_t region_work = 0;                       ///< operations of a loop that are worth a task
  int64_t region_units = 0;                      ///< from which on the shares of two threads are nearly equal where they are odd
};

}  // namespace tenon::codegen
