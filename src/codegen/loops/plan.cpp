// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/plan.h"

#include <algorithm>
#include <set>

#include "codegen/loops/absorb_scales.h"
#include "codegen/loops/borders.h"
#include "codegen/loops/collect.h"
#include "codegen/loops/copy_images.h"
#include "codegen/loops/diagonals.h"
#include "codegen/loops/fuse.h"
#include "codegen/loops/join_regions.h"
#include "codegen/loops/layout.h"
#include "codegen/loops/pad_rows.h"
#include "codegen/loops/plan_verify.h"
#include "codegen/loops/shorten_products.h"
#include "codegen/loops/whole_numbers.h"
#include "codegen/loops/whole_reductions.h"
#include "codegen/loops/window_sum.h"
#include "codegen/loops/zero_points.h"
#include "codegen/winograd/winograd.h"

namespace tenon::codegen {

namespace {

constexpr PlanPass kPasses[] = {
    {"take_off_zero_points", "sums of 8-bit integers lose their zero points, and get a map behind that makes up for it",
     take_off_zero_points},
    {"find_contractions", "sums of products that the register tiles walk get their roles", find_contractions, false},
    {"shorten_products", "operands of large products are rounded to bf16, where a build asks for that precision", shorten_products, false},
    // Before views and cheap maps spread into their readers.
    {"absorb_epilogues", "a map that alone reads a contraction's result runs on its tile", absorb_epilogues},
    {"inline_maps", "views and cheap maps are evaluated where they are read", inline_maps},
    {"keep_whole_numbers", "numbers that are rounded to bytes and read again in one body stay numbers", keep_whole_numbers},
    {"place_results", "attention writes where a transposition that alone reads its result would", place_results},
    // The arithmetic of a bias stands in one body now.
    {"store_diagonals", "what depends on the distance of two axes alone is stored as one element a diagonal", store_diagonals},
    {"inline_masks", "what is still as large as the scores of attention is evaluated inside it", inline_masks},
    {"copy_images", "images that are seen from outside are copied for convolutions that would walk them against their order", copy_images},
    // What was inlined has no layout.
    {"choose_layouts", "images stand with their channels innermost", choose_layouts},
    // What are rows and what are lanes is settled by the layouts.
    {"absorb_scales", "rows that are multiplied by a factor of a product's depth are multiplied on its tiles", absorb_scales},
    // Rows are what lies side by side.
    {"split_whole_reductions", "the least or largest element of all is found row by row", split_whole_reductions},
    // It needs the final accesses.
    {"group_rows", "loops over the same rows share a kernel", group_rows},
    // These know the final groups.
    {"absorb_into_windows", "a map that alone reads a depthwise convolution's result runs on its registers", absorb_into_windows},
    // The loops over tiles are as they should be.
    {"winograd", "convolutions of 3x3 by fewer products, where that takes less time", use_winograd},
    // What takes fewer products reads no padding; it needs the final layouts, and the readers of each image.
    {"add_borders", "images have the padding of the convolutions that read them around them in memory", add_borders},
    // Products that are left are tiles; it needs the final accesses too.
    {"absorb_columns", "maps that read a product's result as columns side by side run on its tiles", absorb_columns},
    // It needs the final layouts, and what reads by rows.
    {"pad_rows", "rows that would all fall into one set of the cache stand a cache line apart", pad_rows},
    // Last: what runs part by part must not change any more.
    {"join_regions", "neighbours over the same rows run part by part in one parallel region", join_regions},
};

bool runs(const PlanPass& pass, const PlanOptions& options) {
  if (pass.fuses && !options.fuse) return false;
  if (pass.name == "shorten_products" && options.precision != Precision::bf16) return false;
  if ((pass.name == "choose_layouts" || pass.name == "copy_images") && !options.channels_last) return false;
  return !options.off.contains(pass.name);
}

Result<void> check_after(std::string_view pass, const Plan& plan, const PlanOptions& options) {
  if (!options.verify) return {};
  if (auto sound = verify(plan); !sound) return std::move(sound).error().at("after planning pass " + std::string(pass));
  return {};
}

/// What stays in the caches from turn to turn, if it fits.
void note_bytes_of_turn(Plan& plan) {
  std::set<ArrayId> constants;
  const auto look = [&](const Nest& n) {
    for (const NestAccess& a : n.accesses)
      if (plan.arrays[a.array].constant) constants.insert(a.array);
  };
  for (const Group& g : plan.groups) {
    std::ranges::for_each(g.nests, look);
    if (g.epilogue) look(g.epilogue->map);
  }
  int64_t bytes = 0;
  for (const ArrayId a : constants) bytes += plan.arrays[a].constant->byte_size();
  for (Group& g : plan.groups)
    if (g.kind == GroupKind::contract) g.bytes_of_turn = bytes;
}

}  // namespace

std::span<const PlanPass> plan_passes() { return kPasses; }

Result<void> run_passes(Plan& plan, const PlanOptions& options) {
  for (const PlanPass& pass : kPasses) {
    if (!runs(pass, options)) continue;
    const std::string before = options.dump ? text_of(plan) : "";
    pass.run(plan);
    if (options.dump && text_of(plan) != before) options.dump(pass.name, plan);
    TRY(check_after(pass.name, plan, options));
  }
  return {};
}

Result<Plan> plan(const ir::Graph& graph, const PlanOptions& options) {
  Plan plan = TRY(collect(graph, options));
  plan.fusion = options.fusion;
  if (options.dump) options.dump("collect", plan);
  TRY(check_after("collect", plan, options));
  TRY(run_passes(plan, options));
  if (options.carried) note_bytes_of_turn(plan);
  return plan;
}

}  // namespace tenon::codegen
