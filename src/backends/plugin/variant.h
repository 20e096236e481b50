// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/graph.h"
#include "plugin/layout/layout_conversion.h"

namespace tenon::backends {

/// One variant in which a plugin can run a node: a tactic and the layouts of operands and results.
struct PluginVariant {
  int32_t tactic = 0;  ///< 0: the plugin's own choice
  std::string tactic_name;
  plugin::Layouts layouts;

  /// "tactic 2 (blocked), channels-last"; operands: of the node.
  std::string text(size_t operands) const;
};

/// The decision of a build with --measure for all nodes with one key_of().
struct PluginChoice {
  std::optional<PluginVariant> variant;  ///< none: other backends run the nodes
  std::string why;                       ///< text with the reason
};
/// Choices by key_of().
using PluginChoices = std::unordered_map<std::string, PluginChoice>;

/// A text that is equal for nodes which run equally fast: op, attributes, types, which operands are constants, and the elements of small
/// integer constants.
std::string key_of(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::backends
