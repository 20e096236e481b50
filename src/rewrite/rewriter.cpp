// SPDX-License-Identifier: Apache-2.0
#include "rewrite/rewriter.h"

namespace tenon::rewrite {

std::vector<ValueId> Rewriter::again(NodeId like, std::vector<ValueId> inputs) {
  const Node& node = graph_.node(like);
  return build_.many(*node.op, std::move(inputs), node.outputs.size(), node.attributes);
}

}  // namespace tenon::rewrite
