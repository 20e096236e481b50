// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/judge.h"
#include "cli/plugin_kit/checks/checks.h"
#include "ops/reference/evaluate.h"

namespace tenon::cli {

namespace {

/// What the definition gives; none where it does not take the case, which is for the check of inference to tell.
std::optional<std::vector<Tensor>> by_definition(Trial& trial, const PluginCase& at) {
  if (!trial.op().has_definition() && !trial.plugin.is_kernel()) return std::nullopt;
  ops::EvaluateOptions options;
  options.mode = ops::Mode::wide;
  auto made = ops::evaluate(*at.made.graph, at.made.inputs, options);
  if (!made) return std::nullopt;
  return *std::move(made);
}

void judge(Trial& trial, const PluginCase& at, const std::string& who, const std::vector<Tensor>& results,
           const std::vector<Tensor>& reference) {
  for (size_t k = 0; k < std::min(results.size(), reference.size()); ++k) {
    if (results[k].empty_handle()) continue;
    const Distance d = distance(results[k], reference[k]);
    if (d.beyond > 0 || d.of_bound > 1) trial.found(at, fmt::format("{}: result {} is not what the definition gives: {}", who, k, d.found));
  }
}

void each_tactic(Trial& trial, const PluginCase& at) {
  const auto object = trial.object(at);
  if (!object) return;
  const auto tactics = object->tactics();
  if (!tactics) return trial.found(at, "it does not tell its tactics", tactics.error());
  auto reference = by_definition(trial, at);
  if (!reference) reference = trial.expected(at);
  if (!reference) return;
  for (const tenon_tactic& tactic : *tactics) {
    const std::string name = fmt::format("tactic {} ({})", tactic.id, tactic.name ? tactic.name : "no name");
    if (tactic.id < 1) trial.found(at, name + ": ids begin at 1");
    RunWishes wishes;
    wishes.tactic = tactic.id;
    if (const auto done = trial.run(*object, at, wishes)) {
      judge(trial, at, name, done->tensors, *reference);
      for (const std::string& fault : done->faults) trial.found(at, name + ": " + fault);
    }
  }
}

}  // namespace

void check_definition(Trial& trial) {
  for (const PluginCase& at : trial.cases()) {
    const auto reference = by_definition(trial, at);
    if (!reference) continue;
    if (const auto results = trial.expected(at)) judge(trial, at, "enqueue", *results, *reference);
  }
}

void check_tactics(Trial& trial) {
  for (const PluginCase& at : trial.cases()) each_tactic(trial, at);
}

}  // namespace tenon::cli
