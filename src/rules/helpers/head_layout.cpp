// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/head_layout.h"

#include <algorithm>

namespace tenon::rules {

using ir::NodeId;
using ir::ValueId;

ValueId operand_of_head_split(const rewrite::GraphQuery& query, ValueId value) {
  const NodeId transpose = query.producer(value, "Transpose");
  const NodeId reshape = transpose && query.node(transpose).attributes.ints("perm") == ir::Ints{0, 2, 1, 3}
                             ? query.producer(query.operand(transpose, 0), "Reshape")
                             : NodeId{};
  const ValueId x = reshape ? query.operand(reshape, 0) : ValueId{};
  const DimList *joined = query.shape(x), *apart = query.shape(value);
  if (!joined || !apart || joined->size() != 3 || apart->size() != 4 || !(*apart)[1].is_number() || !(*apart)[3].is_number()) return {};
  const bool fits =
      (*joined)[0].known_equal((*apart)[0]) && (*joined)[1].known_equal((*apart)[2]) && (*joined)[2].known_equal((*apart)[1] * (*apart)[3]);
  return fits ? x : ValueId{};
}

MergedShape shape_of_merged_heads(const rewrite::GraphQuery& query, NodeId reshape, const DimList& joined) {
  const DimList* out = query.shape(query.result(reshape));
  if (out && std::ranges::equal(*out, joined, &Dim::known_equal)) return MergedShape::same;
  // A target that copies axes other than the first two copies them of heads that are apart.
  const auto target = query.ints(query.operand(reshape, 1));
  if (!out || !target) return MergedShape::unknown;
  for (size_t k = 2; k < target->size(); ++k)
    if ((*target)[k] == 0) return MergedShape::unknown;
  return MergedShape::reshaped;
}

}  // namespace tenon::rules
