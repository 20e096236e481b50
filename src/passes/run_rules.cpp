// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.h"
#include "rules/registry/registry.h"

namespace tenon::passes {
namespace {

/// Adds `run` to `total`, rule by rule name: passes run different sets.
void book(rewrite::Statistics& total, const rewrite::Statistics& run) {
  rewrite::Statistics aligned = run;
  aligned.rules.clear();
  aligned.rules.resize(total.rules.size());
  for (const auto& rule : run.rules) {
    auto it = std::ranges::find(total.rules, rule.name, &rewrite::RuleStatistics::name);
    if (it == total.rules.end()) {
      total.rules.emplace_back().name = rule.name;
      aligned.rules.push_back(rule);
    } else {
      aligned.rules[static_cast<size_t>(it - total.rules.begin())] = rule;
    }
  }
  for (size_t i = 0; i < aligned.rules.size(); ++i) aligned.rules[i].name = total.rules[i].name;
  total.add(aligned);
}

Result<bool> run_stages(Graph& graph, Context& context, rewrite::Stage last) {
  std::vector<const rewrite::Rule*> chosen;
  for (const rules::RuleFile& file : rules::all_files()) {
    if (file.list->stage > last || context.options.off.contains(file.name)) continue;
    for (const rewrite::Rule& rule : file.list->rules)
      if (!context.options.off.contains(rule.name)) chosen.push_back(&rule);
  }
  const auto set = TRY(rewrite::RuleSet::make(chosen, graph.ops()));
  rewrite::Options options;
  options.allowed = context.options.allowed;
  options.stop_after = context.budget;
  options.timing = context.options.timing;
  // The passes to come look at every node anyway: only the last one needs to look twice to be sure of the end.
  const bool last_pass = last == rewrite::Stage::combine || context.options.level < 2;
  if (!last_pass) options.sweeps = 1;
  options.cancelled = context.options.cancelled;
  if (!context.options.off.contains("fold_constants")) options.fold = fold_node;
  const auto statistics = TRY(rewrite::rewrite(graph, set, options));
  for (const auto& rule : statistics.rules)
    if (rule.name != "fold_constants") context.budget -= rule.applied;
  book(context.report.rules, statistics);
  return statistics.changed;
}

}  // namespace

Result<bool> clean(Graph& graph, Context& context) { return run_stages(graph, context, rewrite::Stage::clean); }
Result<bool> fuse(Graph& graph, Context& context) { return run_stages(graph, context, rewrite::Stage::fuse); }
Result<bool> combine(Graph& graph, Context& context) { return run_stages(graph, context, rewrite::Stage::combine); }

}  // namespace tenon::passes
