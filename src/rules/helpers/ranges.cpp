// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/ranges.h"

namespace tenon::rules {

ir::NodeId range_below(const rewrite::Look& look, ir::ValueId value) {
  for (int depth = 0; depth < 8; ++depth) {
    const ir::NodeId node = look.producer(value);
    if (!node) return {};
    const ir::Node& n = look.node(node);
    if (n.is("Range")) return node;
    if (!n.is("Unsqueeze") && !n.is("Reshape") && !n.is("Squeeze") && !n.is("Expand") && !n.is("Cast")) return {};
    value = look.operand(node, 0);
  }
  return {};
}

std::optional<Dim> counts_along(const rewrite::Look& look, ir::ValueId value, size_t axis) {
  const ir::NodeId range = range_below(look, value);
  const DimList* shape = look.shape(value);
  if (!range || !shape || axis >= shape->size() || !is_integer(look.dtype(value))) return std::nullopt;
  if (!look.is_number(look.operand(range, 0), 0) || !look.is_number(look.operand(range, 2), 1)) return std::nullopt;
  for (size_t i = 0; i < shape->size(); ++i)
    if (i != axis && !(*shape)[i].known_equal(1)) return std::nullopt;
  const DimList* counted = look.shape(look.result(range));
  if (!counted || !(*counted)[0].known_equal((*shape)[axis])) return std::nullopt;
  return (*shape)[axis];
}

}  // namespace tenon::rules
