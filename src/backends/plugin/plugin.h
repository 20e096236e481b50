// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backends/plugin/variant.h"
#include "plugin/object.h"
#include "plugin/registry.h"

namespace tenon::backends {

/// The backend that runs nodes by `enqueue` functions of plugins. A segment is one node; its blob has the fields that its object is made
/// from (plugin::Saved).
class Plugin final : public backend::Backend {
 public:
  explicit Plugin(const runtime::Libraries& libraries)
      : plugins_(libraries.plugins), preferred_(libraries.preferred_plugins), tactics_(libraries.plugin_tactics) {}
  static constexpr std::string_view kName = "plugin";
  std::string_view name() const override { return kName; }
  std::string_view docs() const override { return "ops of plugin libraries (--plugin LIB), by their own functions"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override;
  /// An estimate: as fast as generated kernels.
  double cost(const ir::Graph& graph, ir::NodeId node) const override;
  backend::Overheads overheads() const override { return {.launch_ns = 100}; }
  bool is_default() const override { return plugins_ && !plugins_->empty(); }
  bool runs_plugins() const override { return true; }
  bool one_node_a_segment() const override { return true; }
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options&) const override;

  /// A copy of this backend that uses these choices.
  std::shared_ptr<const Plugin> with(PluginChoices choices) const;
  /// The plugin op that can run the node: the node's own op where it is one with `enqueue`, else a plugin's kernel for the op, a preferred
  /// one first. Null: there is none.
  const plugin::Op* op_for(const ir::NodeView& view) const;
  bool is_preferred(const plugin::Op& op) const;
  /// The variants of the node: at most `formats` combinations of layouts, each with each tactic. The first one is the default. Errors:
  /// not_supported; errors of the plugin's functions.
  Result<std::vector<PluginVariant>> variants(const ir::NodeView& view, const plugin::Op& op, size_t formats) const;
  /// Whether the user chose this op (--prefer) or its tactic, so that a build with --measure does not look for a faster one.
  bool is_chosen_by_user(const plugin::Op& op) const;
  /// The choice for a node as text; empty: there is none.
  std::string choice_text(const ir::Graph& graph, ir::NodeId node) const;

 private:
  Plugin(const Plugin&) = default;
  Result<const plugin::Op*> runner_of(const ir::Graph& graph, ir::NodeId node) const;
  const PluginChoice* choice_of(const ir::Graph& graph, ir::NodeId node) const;
  const plugin::Op* kernel_of(const ir::Op& op) const;
  Result<PluginVariant> variant_of(const ir::Graph& graph, ir::NodeId node, const plugin::Op& op, const plugin::Object& object) const;
  /// The tactics to use: the one that the user chose, else all. Errors: bad_usage for one that the plugin does not offer.
  Result<std::vector<tenon_tactic>> selected_tactics(const plugin::Op& op, const plugin::Object& object) const;

  std::shared_ptr<const plugin::Registry> plugins_;
  std::vector<std::string> preferred_;
  std::map<std::string, int32_t, std::less<>> tactics_;
  std::shared_ptr<const PluginChoices> choices_;
};

}  // namespace tenon::backends
