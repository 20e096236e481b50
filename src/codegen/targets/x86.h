// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/target.h"

namespace tenon::codegen {

/// Figures of servers with x86: lines of 64 bytes; addresses 4 KiB apart share a set of the first-level cache (Intel's optimization
/// reference manual; AMD's for family 19h). Those of Winograd's convolutions, scaled rows and regions were measured on Zen 5 (docs/why/023,
/// 025): 49 rows gain from scaled panels with 320 lanes.
inline constexpr PlanLimits kX86PlanLimits{
    .line_bytes = 64,
    .set_bytes = 4096,
    .tile_rows = 14,
    .row_parts = 4,
    .min_scaled_rows = 14,
    .max_scaled_lanes = 1024,
    .ops_per_cached_byte = 4,
    .ops_per_memory_byte = 12,
    .ops_per_weight_byte = 7,
    .winograd_cache_bytes = 20 << 20,
    .max_tile_epilogue = 6,
    .max_region_bytes = 3 << 17,
    .max_region_weights = 5 << 17,
    .max_region_traffic = 8,
    .min_region_rows = 14,
    .min_task_work = 4096,
    .min_odd_units = 25,
};

/// Planning passes for CPUs with register tiles and vector registers.
inline constexpr std::string_view kX86PlanPasses[] = {
    "append_in_place", "fold_zero_points",    "find_contractions", "shorten_products", "absorb_epilogues",
    "inline_maps",     "elide_requantize",    "place_results",     "store_diagonals",  "inline_masks",
    "read_codes",      "copy_images",         "choose_layouts",    "absorb_scales",    "split_full_reductions",
    "group_rows",      "absorb_into_windows", "winograd",          "add_halos",        "absorb_columns",
    "pad_rows",        "write_in_place",      "join_regions",
};

}  // namespace tenon::codegen
