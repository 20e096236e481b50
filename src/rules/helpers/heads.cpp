// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/heads.h"

#include <algorithm>

namespace tenon::rules {

using ir::NodeId;
using ir::ValueId;

ValueId side_by_side(const rewrite::Look& look, ValueId value) {
  const NodeId turn = look.made_by(value, "Transpose");
  const NodeId reshape =
      turn && look.node(turn).attributes.ints("perm") == ir::Ints{0, 2, 1, 3} ? look.made_by(look.operand(turn, 0), "Reshape") : NodeId{};
  const ValueId x = reshape ? look.operand(reshape, 0) : ValueId{};
  const DimList *joined = look.shape(x), *apart = look.shape(value);
  if (!joined || !apart || joined->size() != 3 || apart->size() != 4 || !(*apart)[1].is_number() || !(*apart)[3].is_number()) return {};
  const bool fits =
      (*joined)[0].known_equal((*apart)[0]) && (*joined)[1].known_equal((*apart)[2]) && (*joined)[2].known_equal((*apart)[1] * (*apart)[3]);
  return fits ? x : ValueId{};
}

Joins joins_heads(const rewrite::Look& look, NodeId reshape, const DimList& joined) {
  const DimList* out = look.shape(look.result(reshape));
  if (out && std::ranges::equal(*out, joined, &Dim::known_equal)) return Joins::same;
  // A target that copies axes other than the first two copies them of heads that stand apart.
  const auto target = look.ints(look.operand(reshape, 1));
  if (!out || !target) return Joins::unknown;
  for (size_t k = 2; k < target->size(); ++k)
    if ((*target)[k] == 0) return Joins::unknown;
  return Joins::reshaped;
}

}  // namespace tenon::rules
