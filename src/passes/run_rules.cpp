// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/core/op.h"
#include "passes/passes.h"
#include "rewrite/driver/isolate.h"

namespace tenon::passes {
namespace {

/// Adds `run` to `total`, rule by rule name: passes run different sets.
void add_run(rewrite::Statistics& total, const rewrite::Statistics& run) {
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

bool runs_alone(rewrite::Stage stage) { return stage == rewrite::Stage::target || stage == rewrite::Stage::trim; }

/// Whether a rule runs in the pass of a stage. The stages clean, fuse and combine run together with the earlier ones of these, because
/// their rewrites make further matches of earlier rules possible; trim and target run alone.
bool runs_in(const rewrite::CompiledRule& rule, rewrite::Stage stage) {
  return runs_alone(stage) || runs_alone(rule.stage) ? rule.stage == stage : rule.stage <= stage;
}

/// Folds constants, except dequantization of 8-bit constants: rules of stage fuse match DequantizeLinear, which must stay until these have
/// run.
std::optional<std::vector<ir::ConstantRef>> fold_but_dequantized(const Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const bool dequantizes = ops::def_of(*node.op).placed_with == ops::PlacedWith::consumer;
  return dequantizes && node.inputs[0] && bits_of(graph.value(node.inputs[0]).type.dtype) <= 8 ? std::nullopt : fold_node(graph, id);
}

/// Subtracts the rewrites of a run from the budget, and records the rules that it disabled.
void record_run(const rewrite::Statistics& run, Context& context) {
  for (const auto& rule : run.rules) {
    if (rule.name != "fold_constants") context.budget -= rule.applied;
    if (rule.left_out) context.left_out.insert(rule.name);
  }
  add_run(context.report.rules, run);
}

Result<bool> run_stage(Graph& graph, Context& context, rewrite::Stage stage) {
  rewrite::Options options = context.options.rewriting;
  const rewrite::RuleSet set = context.rules.where([&](const rewrite::CompiledRule& rule) {
    return runs_in(rule, stage) && rule.numerics <= options.allowed && !context.left_out.contains(rule.name);
  });
  if (set.size() == 0 && runs_alone(stage)) return false;
  options.stop_after = context.budget;
  // Later passes visit every node again, so only the last pass needs a second sweep to confirm that nothing matches any more.
  const bool last_pass = stage >= rewrite::Stage::combine || context.options.level < 2;
  if (!last_pass) options.sweeps = 1;
  const bool fuses_later = context.options.level >= 2 && stage <= rewrite::Stage::fuse;
  if (stage != rewrite::Stage::target && !context.options.disabled.contains("fold_constants"))
    options.fold = fuses_later ? fold_but_dequantized : fold_node;
  const auto statistics =
      TRY(context.options.isolate ? rewrite::rewrite_without_faulty_rules(graph, set, options) : rewrite::rewrite(graph, set, options));
  record_run(statistics, context);
  return statistics.changed;
}

}  // namespace

Result<bool> clean(Graph& graph, Context& context) { return run_stage(graph, context, rewrite::Stage::clean); }
Result<bool> fuse(Graph& graph, Context& context) { return run_stage(graph, context, rewrite::Stage::fuse); }
Result<bool> trim(Graph& graph, Context& context) { return run_stage(graph, context, rewrite::Stage::trim); }
Result<bool> combine(Graph& graph, Context& context) { return run_stage(graph, context, rewrite::Stage::combine); }
Result<bool> target(Graph& graph, Context& context) { return run_stage(graph, context, rewrite::Stage::target); }

}  // namespace tenon::passes
