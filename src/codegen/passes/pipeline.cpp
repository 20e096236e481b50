// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/pipeline.h"

#include <algorithm>
#include <set>

#include "codegen/analysis/plan_verify.h"
#include "codegen/collect/collect.h"
#include "codegen/passes/absorb_columns.h"
#include "codegen/passes/absorb_epilogues.h"
#include "codegen/passes/absorb_into_windows.h"
#include "codegen/passes/absorb_scales.h"
#include "codegen/passes/add_halos.h"
#include "codegen/passes/append_in_place.h"
#include "codegen/passes/choose_layouts.h"
#include "codegen/passes/copy_images.h"
#include "codegen/passes/elide_requantize.h"
#include "codegen/passes/find_contractions.h"
#include "codegen/passes/fold_zero_points.h"
#include "codegen/passes/group_rows.h"
#include "codegen/passes/inline_maps.h"
#include "codegen/passes/inline_masks.h"
#include "codegen/passes/join_regions.h"
#include "codegen/passes/pad_rows.h"
#include "codegen/passes/place_results.h"
#include "codegen/passes/read_codes.h"
#include "codegen/passes/shorten_products.h"
#include "codegen/passes/split_full_reductions.h"
#include "codegen/passes/store_diagonals.h"
#include "codegen/passes/write_in_place.h"
#include "codegen/winograd/winograd.h"

namespace tenon::codegen {

namespace {

bool always(const PlanOptions&) { return true; }
bool fuses(const PlanOptions& options) { return options.fuse; }
bool chooses_layouts(const PlanOptions& options) { return options.fuse && options.channels_last; }
bool rounds_to_bf16(const PlanOptions& options) { return options.precision == Precision::bf16; }

constexpr PlanPass kPasses[] = {
    // Layouts of all others follow from it.
    {"append_in_place", "a state that grows by a Concat keeps its memory: new rows alone are written", append_in_place, always},
    {"fold_zero_points", "sums of 8-bit integers omit their zero points, which a map after them corrects", fold_zero_points, fuses},
    {"find_contractions", "sums of products that the register tiles walk get their roles", find_contractions, always},
    {"shorten_products", "operands of large products are rounded to bf16, where a build has that precision", shorten_products,
     rounds_to_bf16},
    // Before views and cheap maps spread into their readers.
    {"absorb_epilogues", "a map that alone reads a contraction's result runs on its tile", absorb_epilogues, fuses},
    {"inline_maps", "views and cheap maps are evaluated where they are read", inline_maps, fuses},
    {"elide_requantize", "numbers that are rounded to bytes and read again in one body stay numbers", elide_requantize, fuses},
    {"place_results", "attention writes where a transposition that alone reads its result would", place_results, fuses},
    // The arithmetic of a bias is in one body now.
    {"store_diagonals", "what depends on the distance of two axes alone is stored as one element a diagonal", store_diagonals, fuses},
    {"inline_masks", "what is still as large as the scores of attention is evaluated inside it", inline_masks, fuses},
    // Casts and products are one map now; later passes do not renumber the loads of attention.
    {"read_codes", "attention reads a cache of codes as it is: scales of rows multiply scores and weights", read_codes, fuses},
    {"copy_images", "images that are seen from outside are copied for convolutions that would walk them against their order", copy_images,
     chooses_layouts},
    // What was inlined has no layout.
    {"choose_layouts", "images are stored with their channels innermost", choose_layouts, chooses_layouts},
    // What are rows and what are lanes is settled by the layouts.
    {"absorb_scales", "rows that are multiplied by a factor of a product's depth are multiplied on its tiles", absorb_scales, fuses},
    // Rows are what lies side by side.
    {"split_full_reductions", "the least or largest element of all is found row by row", split_full_reductions, fuses},
    // It needs the final accesses.
    {"group_rows", "loops over the same rows share a kernel", group_rows, fuses},
    // These need the final groups.
    {"absorb_into_windows", "a map that alone reads a depthwise convolution's result runs on its registers", absorb_into_windows, fuses},
    // The loops over tiles are as they should be.
    {"winograd", "convolutions of 3x3 by fewer products, where that takes less time", winograd, fuses},
    // What takes fewer products reads no padding; it needs the final layouts, and the readers of each image.
    {"add_halos", "images have the padding of the convolutions that read them around them in memory", add_halos, fuses},
    // Products that are left are tiles; it needs the final accesses too.
    {"absorb_columns", "maps that read a product's result as columns side by side run on its tiles", absorb_columns, fuses},
    // It needs the final layouts, and what reads by rows.
    {"pad_rows", "rows that would all fall into one set of the cache are padded by a cache line", pad_rows, fuses},
    // Nothing moves between groups any more.
    {"write_in_place", "a state of fixed shape is changed in its own memory, after the last read of its old value", write_in_place, always},
    // Last: what runs part by part must not change any more.
    {"join_regions", "neighbours over the same rows run part by part in one parallel region", join_regions, fuses},
};

bool runs(const PlanPass& pass, const Target& target, const PlanOptions& options) {
  return std::ranges::find(target.plan_passes, pass.name) != target.plan_passes.end() && pass.applies(options) &&
         !options.off.contains(pass.name);
}

Result<void> check_after(std::string_view pass, const Plan& plan, const PlanOptions& options) {
  if (!options.verify) return {};
  if (auto sound = verify(plan); !sound) return std::move(sound).error().at("after planning pass " + std::string(pass));
  return {};
}

/// Refuses a state of which a part changes and whose old value is read later: it would need a copy in each run.
Result<void> check_states(const Plan& plan, const ir::Graph& graph) {
  for (const PlanState& s : plan.states) {
    if (s.in_place || s.late_readers.empty()) continue;
    const auto reads = [&](ir::NodeId n) {
      return std::ranges::find(graph.node(n).inputs, plan.arrays[plan.inputs[s.input]].value) != graph.node(n).inputs.end();
    };
    const auto reader = std::ranges::find_if(s.late_readers, reads);
    return fail(Code::not_supported, "state '" + s.name + "'", "not supported yet: its old value is read after a part of it has changed")
        .expected("readers of the old value that can run before the write")
        .found(graph.view(reader == s.late_readers.end() ? s.late_readers[0] : *reader).where())
        .advice("let that node read the new value, or replace the state as a whole");
  }
  return {};
}

/// Sets ContractGroup::constant_bytes_per_iteration.
void note_constant_bytes(Plan& plan) {
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
    if (g.kind() == GroupKind::contract) g.as<ContractGroup>().constant_bytes_per_iteration = bytes;
}

}  // namespace

std::span<const PlanPass> plan_passes() { return kPasses; }

Result<void> run_passes(Plan& plan, const Target& target, const PlanOptions& options) {
  for (const PlanPass& pass : kPasses) {
    if (!runs(pass, target, options)) continue;
    const std::string before = options.dump ? text_of(plan) : "";
    pass.run(plan);
    if (options.dump && text_of(plan) != before) options.dump(pass.name, plan);
    TRY(check_after(pass.name, plan, options));
  }
  return {};
}

Result<Plan> plan(const ir::Graph& graph, const Target& target, const PlanOptions& options) {
  Plan plan = TRY(collect(graph, options));
  plan.limits = options.limits.value_or(target.plan_limits);
  if (options.dump) options.dump("collect", plan);
  TRY(check_after("collect", plan, options));
  TRY(run_passes(plan, target, options));
  TRY(check_states(plan, graph));
  if (options.carried) note_constant_bytes(plan);
  return plan;
}

}  // namespace tenon::codegen
