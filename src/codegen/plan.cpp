// SPDX-License-Identifier: Apache-2.0
#include "codegen/collect.h"
#include "codegen/diagonals.h"
#include "codegen/fuse.h"
#include "codegen/layout.h"

namespace tenon::codegen {

Result<Plan> plan(const ir::Graph& graph, const PlanOptions& options) {
  Plan plan = TRY(collect(graph, options.given));
  find_contractions(plan);
  if (!options.fuse) return plan;
  absorb_epilogues(plan);  // before views and cheap maps spread into their readers
  inline_maps(plan);
  store_diagonals(plan);                            // the arithmetic of a bias stands in one body now
  inline_masks(plan);                               // what is still as large as the scores
  if (options.channels_last) choose_layouts(plan);  // after inlining: what was inlined has no layout
  group_rows(plan);                                 // last: it needs the final accesses
  return plan;
}

}  // namespace tenon::codegen
