// SPDX-License-Identifier: Apache-2.0
#include "compiler/fallbacks.h"

#include <algorithm>

#include "compiler/fallback_options.h"
#include "compiler/input_defaults.h"
#include "compiler/rewrite_and_partition.h"
#include "compiler/without_plugins.h"
#include "ops/core/random_streams.h"

namespace tenon::compiler {

using runtime::Condition;

Result<void> add_fallback_graphs(Source& source, const CompileOptions& options) {
  TRY(resolve_input_defaults(source, options.freeze_defaults));
  ops::number_random_streams(*source.graph);
  for (const FallbackGraph& f : source.fallbacks) ops::number_random_streams(*f.graph);
  if (options.plugin_fallback) {
    const ir::Graph* const unbounded = graph_for(source.fallbacks, Condition::size_out_of_range);
    source.fallbacks.push_back({Condition::plugin_missing, TRY(without_plugins(unbounded ? *unbounded : *source.graph))});
  }
  std::ranges::sort(source.fallbacks, {}, &FallbackGraph::condition);
  return {};
}

Result<std::vector<PartitionedFallback>> partition_fallbacks(std::vector<FallbackGraph> graphs, const PartitionedGraph& entry,
                                                             const CompileOptions& options, std::vector<std::string>& warnings) {
  std::vector<PartitionedFallback> out;
  for (FallbackGraph& f : graphs) {
    const bool plugin_free = f.condition == Condition::plugin_missing;
    if (plugin_free && !runs_plugins(entry.partition, entry.backends.all)) continue;  // it would be equal to its entry
    CompileOptions own = fallback_options(options, entry.backends);
    if (plugin_free) own.backends = without_plugins(own.backends);
    auto partitioned = rewrite_and_partition(std::move(f.graph), own);
    if (!partitioned && f.condition == Condition::default_overridden) {
      warnings.push_back("inputs with a default are taken as constants: " + partitioned.error().text());
      continue;
    }
    out.push_back({f.condition, TRY(std::move(partitioned)), std::move(own)});
  }
  return out;
}

}  // namespace tenon::compiler
