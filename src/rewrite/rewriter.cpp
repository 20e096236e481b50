// SPDX-License-Identifier: Apache-2.0
#include "rewrite/rewriter.h"

namespace tenon::rewrite {

std::vector<ValueId> Rewriter::again(NodeId like, std::vector<ValueId> inputs) {
  const Node& node = graph_.node(like);
  std::string op = node.op->domain.empty() ? node.op->name : node.op->domain + "::" + node.op->name;
  std::vector<std::pair<std::string, ir::Attribute>> attributes(node.attributes.begin(), node.attributes.end());
  return build_.many(op, std::move(inputs), node.outputs.size(), std::move(attributes));
}

}  // namespace tenon::rewrite
