// SPDX-License-Identifier: Apache-2.0
// Parts: all parts of a Split side by side again are what was split, one part is the whole, and parts without elements add nothing.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_split_concat {
using namespace rewrite;
namespace {

bool single_operand(Match& m) { return m.node(m.root()).explicit_inputs == 1 && root_has_type_of_first_operand(m); }

/// One part as large as the whole.
bool single_part(Match& m) { return m.node(m.root()).outputs.size() == 1 && root_has_type_of_first_operand(m); }

/// Parts of size 0 along the axis add nothing.
bool empty_part(Match& m) {
  const Node& node = m.node(m.root());
  const auto axis = m.axis(m.root(), "axis", 0, m.result(m.root()));
  if (!axis || node.explicit_inputs < 2) return false;
  std::vector<ValueId> kept;
  for (size_t i = 0; i < node.explicit_inputs; ++i) {
    const DimList* shape = m.shape(node.inputs[i]);
    if (!shape || !(*shape)[*axis].known_equal(0)) kept.push_back(node.inputs[i]);
  }
  if (kept.empty() || kept.size() == node.explicit_inputs) return false;
  return m.accept(std::move(kept));
}

bool without_empty_parts(const Match& m, Rewriter& w) {
  return replace_root(m, w, w.clone_with_operands(m.root(), m.state<std::vector<ValueId>>())[0]);
}

bool all_parts(Match& m) {
  const Node& concat = m.node(m.root());
  const NodeId made = m.producer(m.operand(m.root(), 0), "Split");
  if (!made) return false;
  const Node& split = m.node(made);
  if (split.outputs.size() != concat.explicit_inputs) return m.refuse("not all parts");
  for (size_t i = 0; i < split.outputs.size(); ++i)
    if (concat.inputs[i] != split.outputs[i]) return m.refuse("the parts are in another order");
  const ValueId source = m.operand(made, 0);
  const int64_t across = split.attributes.integer("axis", 0), along = concat.attributes.integer("axis", 0);
  const auto axis = m.axis(made, "axis", 0, source);
  if (across != along && (!axis || axis != m.axis(m.root(), "axis", 0, source))) return m.refuse("the axes differ");
  return m.accept(source);
}

}  // namespace

RULES(clean_split_concat) {
    .rules =
        {
            {.name = "concat_one",
             .docs = "Concat of one operand",
             .roots = "Concat Sum Max Min Mean",
             .match = single_operand,
             .rewrite = replace_root_with_first_operand,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "ConcatEmpty"},
            {.name = "split_one",
             .docs = "Split into one part",
             .roots = "Split",
             .match = single_part,
             .rewrite = replace_root_with_first_operand,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon canonical"},
            {.name = "concat_empty",
             .docs = "Concat drops operands that have no elements",
             .roots = "Concat",
             .match = empty_part,
             .rewrite = without_empty_parts,
             .benefit = 9,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "ConcatEmpty"},
            {.name = "split_concat",
             .docs = "Concat of all parts of a Split, in their order and along its axis, is what was split",
             .roots = "Concat",
             .match = all_parts,
             .rewrite = replace_root_with_state,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "SplitConcat"},
        },
};

}  // namespace tenon::rules::clean_split_concat
