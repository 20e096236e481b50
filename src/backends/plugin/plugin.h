// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backends/plugin/way.h"
#include "plugin/object.h"
#include "plugin/registry.h"

namespace tenon::backends {

/// Runs nodes of plugins that compute them by functions of their own. A segment is one node; what its object is made from travels in the
/// blob.
class Plugin final : public backend::Backend {
 public:
  explicit Plugin(const runtime::Libraries& libraries)
      : plugins_(libraries.plugins), preferred_(libraries.preferred_plugins), tactics_(libraries.plugin_tactics) {}
  static constexpr std::string_view kName = "plugin";
  std::string_view name() const override { return kName; }
  std::string_view docs() const override { return "ops of plugin libraries (--plugin LIB), by their own functions"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override;
  /// A guess: as fast as our own kernels.
  double cost(const ir::Graph& graph, ir::NodeId node) const override;
  backend::Overheads overheads() const override { return {.launch_ns = 100}; }
  bool is_default() const override { return plugins_ && !plugins_->empty(); }
  bool runs_plugins() const override { return true; }
  bool one_node_a_segment() const override { return true; }
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options&) const override;

  /// The same, with what is settled of some nodes.
  std::shared_ptr<const Plugin> with(PluginChoices choices) const;
  /// Whose function may compute the node: the plugin that the op is of, else a kernel that a plugin has for it, a preferred one first.
  /// Null: no plugin's.
  const plugin::Op* op_for(const ir::NodeView& view) const;
  bool is_preferred(const plugin::Op& op) const;
  /// The ways in which that op runs the node, at most so many choices of layouts, each with each tactic; the first is taken where nothing
  /// is settled. Errors: not_supported, and what the plugin says.
  Result<std::vector<PluginWay>> ways(const ir::NodeView& view, const plugin::Op& op, size_t formats) const;
  /// The user chooses it: nothing faster is searched for.
  bool is_settled(const plugin::Op& op) const;
  /// What is settled of a node, as a text; empty: nothing.
  std::string settled_text(const ir::Graph& graph, ir::NodeId node) const;

 private:
  Plugin(const Plugin&) = default;
  Result<const plugin::Op*> runner_of(const ir::Graph& graph, ir::NodeId node) const;
  const PluginChoice* choice_of(const ir::Graph& graph, ir::NodeId node) const;
  const plugin::Op* kernel_of(const ir::Op& op) const;
  Result<PluginWay> way_of(const ir::Graph& graph, ir::NodeId node, const plugin::Op& op, const plugin::Object& object) const;
  /// The user's choice. Errors: bad_usage for one that the plugin does not offer.
  Result<std::vector<tenon_tactic>> selected_tactics(const plugin::Op& op, const plugin::Object& object) const;

  std::shared_ptr<const plugin::Registry> plugins_;
  std::vector<std::string> preferred_;
  std::map<std::string, int32_t, std::less<>> tactics_;
  std::shared_ptr<const PluginChoices> choices_;
};

}  // namespace tenon::backends
