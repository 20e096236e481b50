// SPDX-License-Identifier: Apache-2.0
#include "partition/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::partition {

Names::Names(const ir::Graph& graph, const Shares& shares) : graph_(graph) {
  for (const NodeShare& n : shares.nodes) nodes_.emplace(n.node, n.name);
}

std::string Names::value(ir::ValueId value) const {
  const ir::Value& v = graph_.value(value);
  if (!v.name.empty() || !v.producer) return v.name;
  const auto& outputs = graph_.node(v.producer).outputs;
  if (outputs.size() == 1) return std::string(node(v.producer));
  return fmt::format("{}:{}", node(v.producer), std::ranges::find(outputs, value) - outputs.begin());
}

}  // namespace tenon::partition
