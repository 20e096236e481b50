// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// What the verifier found in a plan.
struct PlanReport {
  std::vector<std::string> wrong;     ///< violated invariants: "node, what: found"
  std::vector<std::string> unproved;  ///< accesses that could not be proved to stay inside their arrays: "node, access, range"
  int64_t accesses = 0;               ///< number of reads and writes checked
};

/// Checks all invariants of a plan: arrays (strides, memory orders, shared bytes), nests (axes, loads, places), groups (dependency
/// order, roles of contractions, regions), and that every access stays inside its array: by the range of its index, by its
/// `within`, by the plan's assumptions on sizes, or because loaded indices are clamped.
/// graph: gives the nodes their names; may be null. Cost: linear in the accesses, times assumptions and comparisons.
PlanReport examine(const Plan& plan, const ir::Graph* graph = nullptr);
/// Errors: internal, with the first violated invariant. An unproved access is no error.
Result<void> verify(const Plan& plan);

}  // namespace tenon::codegen
