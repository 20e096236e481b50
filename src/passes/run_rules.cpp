// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.h"

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
      total.rules.back().sets = rule.sets;
      aligned.rules.push_back(rule);
    } else {
      aligned.rules[static_cast<size_t>(it - total.rules.begin())] = rule;
    }
  }
  for (size_t i = 0; i < aligned.rules.size(); ++i) {
    aligned.rules[i].name = total.rules[i].name;
    aligned.rules[i].sets = total.rules[i].sets;
  }
  total.add(aligned);
}

bool runs_in(const rewrite::CompiledRule& rule, rewrite::Stage stage) {
  return stage == rewrite::Stage::target ? rule.stage == stage : rule.stage <= stage;
}

Result<bool> run_stage(Graph& graph, Context& context, rewrite::Stage stage) {
  std::vector<rewrite::RulePtr> chosen;
  for (const rewrite::RulePtr& rule : context.rules)
    if (runs_in(*rule, stage)) chosen.push_back(rule);
  if (chosen.empty() && stage == rewrite::Stage::target) return false;
  const rewrite::RuleSet set(std::move(chosen), graph.ops());
  rewrite::Options options = context.options.rewriting;
  options.stop_after = context.budget;
  // The passes to come look at every node anyway: only the last one needs to look twice to be sure of the end.
  const bool last_pass = stage >= rewrite::Stage::combine || context.options.level < 2;
  if (!last_pass) options.sweeps = 1;
  if (stage != rewrite::Stage::target && !context.options.off.contains("fold_constants")) options.fold = fold_node;
  const auto statistics = TRY(rewrite::rewrite(graph, set, options));
  for (const auto& rule : statistics.rules)
    if (rule.name != "fold_constants") context.budget -= rule.applied;
  book(context.report.rules, statistics);
  return statistics.changed;
}

}  // namespace

Result<bool> clean(Graph& graph, Context& context) { return run_stage(graph, context, rewrite::Stage::clean); }
Result<bool> fuse(Graph& graph, Context& context) { return run_stage(graph, context, rewrite::Stage::fuse); }
Result<bool> combine(Graph& graph, Context& context) { return run_stage(graph, context, rewrite::Stage::combine); }
Result<bool> target(Graph& graph, Context& context) { return run_stage(graph, context, rewrite::Stage::target); }

}  // namespace tenon::passes
