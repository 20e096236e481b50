// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/iota.h"

namespace tenon::rules {

ir::NodeId range_of(const rewrite::GraphQuery& query, ir::ValueId value) {
  for (int depth = 0; depth < 8; ++depth) {
    const ir::NodeId node = query.producer(value);
    if (!node) return {};
    const ir::Node& n = query.node(node);
    if (n.is("Range")) return node;
    if (!n.is("Unsqueeze") && !n.is("Reshape") && !n.is("Squeeze") && !n.is("Expand") && !n.is("Cast")) return {};
    value = query.operand(node, 0);
  }
  return {};
}

std::optional<Dim> iota_length(const rewrite::GraphQuery& query, ir::ValueId value, size_t axis) {
  const ir::NodeId range = range_of(query, value);
  const DimList* shape = query.shape(value);
  if (!range || !shape || axis >= shape->size() || !is_integer(query.dtype(value))) return std::nullopt;
  if (!query.is_number(query.operand(range, 0), 0) || !query.is_number(query.operand(range, 2), 1)) return std::nullopt;
  for (size_t i = 0; i < shape->size(); ++i)
    if (i != axis && !(*shape)[i].known_equal(1)) return std::nullopt;
  const DimList* counted = query.shape(query.result(range));
  if (!counted || !(*counted)[0].known_equal((*shape)[axis])) return std::nullopt;
  return (*shape)[axis];
}

}  // namespace tenon::rules
