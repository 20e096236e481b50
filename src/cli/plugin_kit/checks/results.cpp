// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/judge.h"
#include "cli/plugin_kit/checks/checks.h"
#include "ops/reference/evaluate.h"

namespace tenon::cli {

namespace {

/// The results of the op's definition; nullopt where it does not support the case, which the check of inference reports.
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
    if (d.exceeding > 0 || d.bound_ratio > 1)
      trial.report(at, fmt::format("{}: result {} is not what the definition gives: {}", who, k, d.found));
  }
}

constexpr size_t kMostFormats = 8;

/// The choices of layouts that it takes; none, with a finding, where it takes none.
std::vector<plugin::Layouts> layouts_of(Trial& trial, const PluginCase& at, const plugin::Object& object) {
  auto found = plugin::formats_of(object, port_types_of(at), at.made.operands.size(), kMostFormats);
  if (found) return *std::move(found);
  trial.report(at, "it takes no layouts", found.error());
  return {};
}

std::optional<std::vector<Tensor>> wanted_of(Trial& trial, const PluginCase& at) {
  auto reference = by_definition(trial, at);
  return reference ? std::move(reference) : trial.expected(at);
}

void try_way(Trial& trial, const PluginCase& at, const plugin::Object& object, const std::string& name, const plugin::Layouts& layouts,
             int32_t tactic, const std::vector<Tensor>& wanted) {
  PluginRunOptions options;
  options.tactic = tactic;
  PluginRun run(object, at, layouts);
  const auto ready = run.set_shapes();
  const auto done = ready ? run.run(options) : Result<RunResults>(std::unexpected(ready.error()));
  if (!done) {
    if (at.is_as_given) trial.report(at, name + ": it does not run", done.error());
    return;  // one way may refuse what was made up, and another not
  }
  judge(trial, at, name, done->tensors, wanted);
  for (const std::string& fault : done->faults) trial.report(at, name + ": " + fault);
}

void each_tactic(Trial& trial, const PluginCase& at) {
  const auto object = trial.object(at);
  if (!object) return;
  const auto tactics = object->tactics();
  if (!tactics) return trial.report(at, "its tactics cannot be", tactics.error());
  const auto wanted = wanted_of(trial, at);
  if (!wanted) return;
  const auto all = layouts_of(trial, at, *object);
  for (const plugin::Layouts& layouts : all)
    for (const tenon_tactic& tactic : *tactics) {
      std::string name = fmt::format("tactic {} ({})", tactic.id, tactic.name ? tactic.name : "no name");
      if (all.size() > 1) name += ", " + plugin::text_of_layouts(layouts, at.made.operands.size());
      try_way(trial, at, *object, name, layouts, tactic.id, *wanted);
    }
}

void each_format(Trial& trial, const PluginCase& at) {
  const auto object = trial.object(at);
  if (!object) return;
  const auto wanted = wanted_of(trial, at);
  if (!wanted) return;
  for (const plugin::Layouts& layouts : layouts_of(trial, at, *object))
    try_way(trial, at, *object, plugin::text_of_layouts(layouts, at.made.operands.size()), layouts, 0, *wanted);
}

}  // namespace

void check_definition(Trial& trial) {
  for (const PluginCase& at : trial.cases()) {
    const auto reference = by_definition(trial, at);
    if (!reference) continue;
    if (const auto results = trial.expected(at)) judge(trial, at, "enqueue", *results, *reference);
  }
}

void check_formats(Trial& trial) {
  for (const PluginCase& at : trial.cases()) each_format(trial, at);
}

void check_tactics(Trial& trial) {
  for (const PluginCase& at : trial.cases()) each_tactic(trial, at);
}

}  // namespace tenon::cli
