// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon::codegen {

/// Limits of planning passes on one target, and figures of the machine that they need. A field with a default here has the same value on
/// every target; src/codegen/targets sets the others. "Work" is counted in scalar operations.
struct PlanLimits {
  size_t max_readers = 64;                ///< a value with more readers is stored, not inlined
  size_t max_accesses = 24;               ///< loads of a nest after fusion
  size_t max_nests = 10;                  ///< nests that share a kernel over the same rows
  size_t look_back = 8;                   ///< earlier groups that group_rows tries to join a group with
  int max_mask_work = 24;                 ///< of a mask that attention evaluates for each score; the products of a score take 128 to 256
  int max_mask_work_for_memory = 64;      ///< the same for a mask that would otherwise be stored with one element for each score
  int transcendental_work = 12;           ///< work of a transcendental function
  int64_t small_mask_elements = 1 << 16;  ///< a mask of at most so many elements is stored, not computed again
  int64_t default_image_size = 224;       ///< rows and columns to assume of an image whose size is known only at run time

  int64_t line_bytes = 0;  ///< size of a cache line
  int64_t set_bytes = 0;   ///< addresses at this distance share a set of the first-level cache; 0: rows need no padding
  int64_t tile_rows = 0;   ///< rows of one axis that fill the register tiles
  int64_t row_parts = 0;   ///< rows are split among tasks into a multiple of this number of parts: a common multiple of usual thread counts

  // absorb_scales: a product multiplies its panels by a factor of the depth, in place of reading rows that were multiplied and stored.
  int64_t min_scaled_rows = 0;   ///< where at least so many rows share the factor
  int64_t max_scaled_lanes = 0;  ///< and the product has at most so many lanes

  // winograd: work in the time that a byte takes.
  double ops_per_cached_byte = 0;    ///< of an array between its steps that fits in the cache: to write the byte and read it
  double ops_per_memory_byte = 0;    ///< of an array between its steps that is larger than winograd_cache_bytes
  double ops_per_weight_byte = 0;    ///< of transformed weights, which a small image reads from memory
  int64_t winograd_cache_bytes = 0;  ///< size of an array that stays in the caches from one step to the next
  int max_tile_epilogue = 0;         ///< work of an epilogue that runs on the tiles of results
  double tile_contrast = 24;         ///< ratio of a tile's energy and its weakest block's above which it is summed plainly, see PlainTiles

  // join_regions: kernels that run in one parallel region, part by part.
  int64_t max_region_bytes = 0;    ///< of results that a part passes from kernel to kernel, which stay in a second-level cache
  int64_t max_region_weights = 0;  ///< bytes of weights that a part reads, which stay there too
  int64_t max_region_traffic = 0;  ///< bytes that the kernels read and write for each byte that stays there; 0: no limit
  int64_t min_region_rows = 0;     ///< rows of a part, so that it fills the register tiles
  int64_t min_task_work = 0;       ///< work of a task of a loop
  int64_t min_odd_units = 0;       ///< least odd number of units that two threads share nearly evenly
};

}  // namespace tenon::codegen
