// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "passes/pass.h"

namespace tenon::passes {

/// The passes of all levels, in the order in which they run.
std::span<const Pass> pipeline();
/// Runs the pipeline on a graph whose values have their types (as they have after import, or from a builder).
/// Errors: those of the passes. Cost: linear in the nodes; constants over 64 KB are never read.
Result<Report> optimise(Graph& graph, const Options& options = {});
/// The report as a text table: pass, nodes before and after, ms; then the rules that matched.
std::string text_of(const Report& report);

}  // namespace tenon::passes
