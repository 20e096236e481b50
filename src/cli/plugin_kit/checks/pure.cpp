// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/plugin_kit/checks/checks.h"
#include "plugin/public/plugins.h"

namespace tenon::cli {

namespace {

/// The values that an op's functions return for a case.
struct Answers {
  std::vector<std::string> types;
  std::vector<int32_t> supports;
  uint64_t workspace = 0;
  std::vector<plugin::Field> saved;
  std::vector<int32_t> tactics;
  std::vector<std::string> graphs;
};

std::vector<int32_t> supported(const plugin::Object& object, std::vector<tenon_format> formats, bool hide_later) {
  std::vector<int32_t> out;
  const auto& supports = object.op().table.supports;
  for (uint32_t k = 0; supports && k < formats.size(); ++k) {
    std::vector<tenon_format> seen = formats;
    for (size_t later = k + 1; hide_later && later < seen.size(); ++later) seen[later] = {TENON_NO_DTYPE, TENON_ROW_MAJOR};
    out.push_back(supports(object.self(), k, seen.data(), static_cast<uint32_t>(seen.size())));
  }
  return out;
}

/// The result of the object's `workspace` for the shapes of the case.
uint64_t workspace_of(const plugin::Object& object, const PluginCase& at) {
  plugin::TensorViews operands(at.made.operands.size()), results(at.results.size());
  for (size_t k = 0; k < at.made.operands.size(); ++k)
    if (const Tensor& t = at.made.operands[k]; !t.empty_handle()) operands.set_type(k, t.dtype(), t.shape());
  for (size_t k = 0; k < at.results.size(); ++k) {
    Sizes sizes;
    if (!has_dynamic_sizes(at.results[k]))
      for (Dim d : *at.results[k].shape) sizes.push_back(d.value());
    results.set_type(k, at.results[k].dtype, sizes);
  }
  return object.workspace(operands.data(), results.data()).value_or(0);
}

std::vector<std::string> texts_of(const std::vector<plugin::AddedGraph>& graphs) {
  std::vector<std::string> out;
  for (const plugin::AddedGraph& g : graphs) out.push_back(g.text);
  return out;
}

Answers ask(Trial& trial, const plugin::Object& object, const PluginCase& at, bool hide_later) {
  Answers out;
  if (const auto made = make_case(trial.plugin, at.sample)) {
    for (const ir::Type& type : made->results) out.types.push_back(type.text());
    if (!has_dynamic_sizes(made->results[0]))
      for (int32_t layout : {TENON_ROW_MAJOR, TENON_CHANNELS_LAST, TENON_STRIDED})
        for (int32_t answer : supported(object, formats_of(*made, layout), hide_later)) out.supports.push_back(answer);
  }
  if (object.op().table.workspace) out.workspace = workspace_of(object, at);
  if (auto saved = object.save(at.fields)) out.saved = *std::move(saved);
  if (const auto tactics = object.tactics())
    for (const tenon_tactic& t : *tactics) out.tactics.push_back(t.id);
  if (const auto graphs = ops::added_graphs_of(at.view(), object)) out.graphs = texts_of(*graphs);
  return out;
}

}  // namespace

void check_pure(Trial& trial) {
  const auto apart = [&](const PluginCase& at, bool equal, std::string_view function) {
    if (!equal) trial.report(at, fmt::format("`{}` returns something else when called again", function));
  };
  const PluginCase* before = nullptr;
  for (const PluginCase& at : trial.cases()) {
    const auto object = trial.object(at);
    if (!object) return;
    const Answers first = ask(trial, *object, at, false);
    const Answers hidden = ask(trial, *object, at, true);
    if (before && before->made.operands.size() == at.made.operands.size()) ask(trial, *object, *before, false);
    const Answers again = ask(trial, *object, at, false);
    apart(at, first.types == again.types && first.types == hidden.types, "infer");
    apart(at, first.supports == again.supports, "supports");
    if (first.supports != hidden.supports) trial.report(at, "`supports` reads types and layouts after the position that it is called for");
    apart(at, first.workspace == again.workspace && first.workspace == hidden.workspace, "workspace");
    apart(at, first.saved == again.saved && first.saved == hidden.saved, "save");
    apart(at, first.tactics == again.tactics, "tactics");
    apart(at, first.graphs == again.graphs && first.graphs == texts_of(at.graphs), "add_graphs");
    before = &at;
  }
}

}  // namespace tenon::cli
