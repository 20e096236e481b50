// SPDX-License-Identifier: Apache-2.0
// Nodes that give their operand back. Each proof is the same: result and operand are equal element by element and in type.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_noop {
using namespace rewrite;
namespace {

bool unused_mask(Match& m) {
  const Node& node = m.node(m.root());
  const bool training = m.operand(m.root(), 2) && !m.is_number(m.operand(m.root(), 2), 0);
  return !training && (node.outputs.size() < 2 || !node.outputs[1] || m.use_count(node.outputs[1]) == 0);
}

bool identity_order(Match& m) {
  const auto perm = m.ints(m.root(), "perm");
  if (!perm) return false;
  for (size_t i = 0; i < perm->size(); ++i)
    if ((*perm)[i] != static_cast<int64_t>(i)) return false;
  return true;
}

bool zero_pads(Match& m) {
  const auto pads = m.ints(m.operand(m.root(), 1));
  return pads && std::ranges::all_of(*pads, [](int64_t p) { return p == 0; }) && root_has_type_of_first_operand(m);
}

/// A slice as long as its operand, with steps of one, starts at its start.
bool whole_slice(Match& m) {
  if (!root_has_type_of_first_operand(m)) return false;
  const ValueId steps = m.operand(m.root(), 4);
  return !steps || m.is_number(steps, 1);
}

bool dtype_kept(Match& m) {
  return m.dtype(m.result(m.root())) == m.dtype(m.operand(m.root(), 0)) && m.dtype(m.operand(m.root(), 0)) != DType::none;
}

bool always(Match&) { return true; }

}  // namespace

RULES(clean_noop) {
    .rules =
        {
            {.name = "identity",
             .docs = "Identity(x) is x",
             .roots = "Identity",
             .match = always,
             .rewrite = replace_root_with_first_operand,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "Identity"},
            {.name = "dropout",
             .docs = "Dropout is Identity at inference",
             .roots = "Dropout",
             .match = unused_mask,
             .rewrite = replace_root_with_first_operand,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "Dropout"},
            {.name = "cast_same",
             .docs = "Cast to the dtype that is there",
             .roots = "Cast CastLike",
             .match = dtype_kept,
             .rewrite = replace_root_with_first_operand,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "Cast CastCast"},
            {.name = "transpose_identity",
             .docs = "Transpose that leaves every axis where it is",
             .roots = "Transpose",
             .match = identity_order,
             .rewrite = replace_root_with_first_operand,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "Identity TransposeTranspose"},
            {.name = "reshape_same",
             .docs = "Reshape, Expand and their kin to the shape that is there",
             .roots = "Reshape Expand Flatten Squeeze Unsqueeze Tile",
             .match = root_has_type_of_first_operand,
             .rewrite = replace_root_with_first_operand,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "Expand Reshape ShapedBasedReshape Identity"},
            {.name = "slice_whole",
             .docs = "Slice as large as its operand",
             .roots = "Slice",
             .match = whole_slice,
             .rewrite = replace_root_with_first_operand,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "ShapeBasedIdentity"},
            {.name = "pad_zero",
             .docs = "Pad by nothing",
             .roots = "Pad",
             .match = zero_pads,
             .rewrite = replace_root_with_first_operand,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon canonical"},
        },
};

}  // namespace tenon::rules::clean_noop
