// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/graph.h"
#include "plugin/layout/layout_conversion.h"

namespace tenon::backends {

/// One of the ways in which a plugin runs a node.
struct PluginWay {
  int32_t tactic = 0;  ///< 0: the plugin's own choice
  std::string tactic_name;
  plugin::Layouts layouts;

  /// "tactic 2 (blocked), channels-last"; operands: of the node.
  std::string text(size_t operands) const;
};

/// What is settled of nodes that are alike.
struct PluginChoice {
  std::optional<PluginWay> way;  ///< none: others run them
  std::string why;               ///< for people
};
/// By key_of.
using PluginChoices = std::unordered_map<std::string, PluginChoice>;

/// Equal for nodes that run alike: op, attributes, types, which operands are constants, and what small ones of integers hold.
std::string key_of(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::backends
