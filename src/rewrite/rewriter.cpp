// SPDX-License-Identifier: Apache-2.0
#include "rewrite/rewriter.h"

namespace tenon::rewrite {

std::vector<ValueId> Rewriter::clone_with_operands(NodeId like, std::vector<ValueId> inputs) {
  const Node& node = graph_.node(like);
  return build_->many(*node.op, std::move(inputs), node.outputs.size(), node.attributes);
}

void Rewriter::insert_after(NodeId node) {
  if (!place_ || graph_.is_before(node, place_)) return;
  place_ = graph_.next(node);
  if (build_->status()) build_.emplace(graph_, place_);
}

}  // namespace tenon::rewrite
