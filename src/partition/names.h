// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "partition/partition.h"

namespace tenon::partition {

/// The nodes of a graph and their names, in its order: their own; `Op_N` by place where it is empty or another node's.
std::vector<std::pair<ir::NodeId, std::string>> names_of_nodes(const ir::Graph& graph);

/// What nodes and values of a graph that is partitioned are called, for people. Both outlive it.
class Names {
 public:
  Names(const ir::Graph& graph, const Partition& partition);
  std::string_view node(ir::NodeId node) const { return nodes_.at(node); }
  /// Its own name; where it has none that of the node that makes it, and which result it is where there are several: "Split_3:1".
  std::string value(ir::ValueId value) const;

 private:
  const ir::Graph& graph_;
  std::unordered_map<ir::NodeId, std::string_view> nodes_;
};

}  // namespace tenon::partition
