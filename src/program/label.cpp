// SPDX-License-Identifier: Apache-2.0
#include "program/label.h"

#include <set>

namespace tenon::program {

std::string label_of(const ir::Graph& graph, std::span<const ir::NodeId> nodes) {
  std::string text;
  std::set<std::string_view> seen;
  for (const ir::NodeId n : nodes) {
    const std::string& op = graph.node(n).op->name;
    if (seen.insert(op).second) text += (text.empty() ? "" : "+") + op;
  }
  return text.empty() ? "Copy" : text;
}

}  // namespace tenon::program
