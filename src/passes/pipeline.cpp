// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.h"

#include <fmt/format.h>

#include <chrono>

#include "passes/passes.h"
#include "passes/rules_of.h"

namespace tenon::passes {
namespace {

constexpr Pass kPipeline[] = {
    {"sink_constants", "bodies hold the constants that they use", 1, sink_constants},
    {"shape_arithmetic", "integers that follow from shapes become constants", 1, shape_arithmetic},
    {"common_subexpressions", "equal nodes and constants are made one", 1, common_subexpressions},
    {"clean", "dead code and no-ops removed, constants folded, one spelling for each thing (rules of stage clean)", 1, clean},
    {"shape_arithmetic", "again: cleaning uncovers shapes", 1, shape_arithmetic, true},
    {"common_subexpressions", "again: cleaning makes more nodes equal", 1, common_subexpressions, true},
    {"sink_constants", "again: cleaning makes constants", 1, sink_constants, true},
    {"fuse", "many plain ops become one fused op (rules of stages clean and fuse)", 2, fuse},
    {"trim", "only rows and columns that are read are computed (rules of stage trim)", 2, trim},
    {"common_subexpressions", "again: readers of one row pick it alike", 2, common_subexpressions, true},
    {"combine", "fused ops joined, layout moved (rules of stages clean, fuse and combine)", 2, combine},
    {"common_subexpressions", "again, over the fused graph", 2, common_subexpressions, true},
    {"pack_rows", "padding of ragged batches is not computed", 3, pack_rows},
    {"common_subexpressions", "again, over the packed rows", 3, common_subexpressions, true},
    {"target", "the graph in the ops of another runtime, where such rules were requested", 2, target},
    {"common_subexpressions", "again: those ops take what others made", 2, common_subexpressions, true},
    {"dead_code", "what the passes before have left behind", 1, dead_code},
};

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

Result<Report> optimise(Graph& graph, const Options& options) {
  Report report;
  Context context{options, report, options.rewriting.stop_after, TRY(rules_of(options, graph.ops()))};
  const auto start = std::chrono::steady_clock::now();
  report.nodes_before = static_cast<int64_t>(graph.node_count());
  const int count = static_cast<int>(std::size(kPipeline));
  for (int i = 0; i < count; ++i) TRY(run_pass(kPipeline[i], graph, context, i, count));
  report.nodes_after = static_cast<int64_t>(graph.node_count());
  report.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return report;
}

std::string text_of(const Report& report) {
  std::string out = fmt::format("{:24} {:>8} {:>8} {:>9}\n", "pass", "before", "after", "ms");
  for (const PassReport& p : report.passes) out += fmt::format("{:24} {:8} {:8} {:9.2f}\n", p.name, p.nodes_before, p.nodes_after, p.ms);
  return out + rewrite::text_of(report.rules);
}

}  // namespace tenon::passes
