// SPDX-License-Identifier: Apache-2.0
#include "cli/options/rewrite_options.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/options/rule_choice.h"
#include "ops/core/op.h"

namespace tenon::cli {
namespace {

/// Passes that change a graph without any rule; dead_code stays, because it takes away what rewrites leave behind.
constexpr std::string_view kWithoutRules[] = {"sink_constants", "shape_arithmetic", "common_subexpressions", "fold_constants"};

rewrite::Numerics numerics_of(std::string_view name) {
  if (name == "exact") return rewrite::Numerics::exact;
  return name == "approximate" ? rewrite::Numerics::approximate : rewrite::Numerics::reassociating;
}

bool has_name(const ir::Graph& graph, const std::string& name) {
  if (graph.find_value(name)) return true;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.name == name) return true;
    for (const ir::Body& body : node.bodies)
      if (has_name(*body.graph, name)) return true;
  }
  return false;
}

}  // namespace

void RewriteOptions::add_to(CLI::App& app) {
  model.add_to(app);
  app.add_option("--rules", rules,
                 "a set expression (default+onnxruntime-bias_gelu) or a .rules file; may be given again (default: default)")
      ->type_name("SET|FILE")
      ->allow_extra_args(false);
  app.add_option("--numerics", numerics, "the largest change of results by rounding that rules may cause")
      ->check(CLI::IsMember({"exact", "reassociating", "approximate"}))
      ->capture_default_str();
  app.add_option("--order", order, "each match at once, or sweep by sweep")
      ->check(CLI::IsMember({"worklist", "sweep"}))
      ->capture_default_str();
  app.add_option("--keep", keep, "a node or value that no rewrite may touch; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_flag("--only", only, "the rules alone: no constant is folded, equal nodes are not merged");
  app.add_flag("--isolate", isolate, "try the rules in a child process first; one that crashes or hangs is left out");
}

Result<passes::Options> RewriteOptions::passes_options() const {
  const RuleChoice choice = TRY(choose_rules(rules, *TRY(model.plugins.plugins()).ops));
  passes::Options out;
  out.level = 3;
  out.rule_selection = choice.expression;
  out.own = choice.files;
  out.isolate = isolate;
  if (only) out.disabled.insert(std::begin(kWithoutRules), std::end(kWithoutRules));
  out.rewriting.allowed = numerics_of(numerics);
  out.rewriting.order = order == "sweep" ? rewrite::Order::sweep : rewrite::Order::worklist;
  out.rewriting.keep.insert(keep.begin(), keep.end());
  return out;
}

Result<void> RewriteOptions::check_keep(const ir::Graph& graph) const {
  for (const std::string& name : keep)
    if (!has_name(graph, name))
      return fail(Code::bad_usage, "--keep " + name, "the model has no node and no value of this name")
          .expected("a name that the model uses")
          .found(name)
          .advice("`tenon inspect MODEL --text` lists the names");
  return {};
}

std::string RewriteOptions::rules_text() const {
  std::string out;
  for (const std::string& r : rules) out += (out.empty() ? "" : " ") + r;
  return out.empty() ? "default" : out;
}

}  // namespace tenon::cli
