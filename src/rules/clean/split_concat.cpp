// SPDX-License-Identifier: Apache-2.0
// All parts of a Split side by side again are what was split.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::clean_split_concat {
using namespace rewrite;
namespace {

bool all_parts(Match& m) {
  const Node& concat = m.node(m.root());
  const NodeId made = m.made_by(m.operand(m.root(), 0), "Split");
  if (!made) return false;
  const Node& split = m.node(made);
  if (split.outputs.size() != concat.explicit_inputs) return m.refuse("not all parts");
  for (size_t i = 0; i < split.outputs.size(); ++i)
    if (concat.inputs[i] != split.outputs[i]) return m.refuse("the parts stand in another order");
  const ValueId source = m.operand(made, 0);
  const int64_t across = split.attributes.integer("axis", 0), along = concat.attributes.integer("axis", 0);
  const auto axis = m.axis(made, "axis", 0, source);
  if (across != along && (!axis || axis != m.axis(m.root(), "axis", 0, source))) return m.refuse("the axes differ");
  m.keep(source);
  return true;
}

bool the_whole(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), m.kept<ValueId>());
  return true;
}

}  // namespace

RULES(clean_split_concat) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "split_concat",
             .docs = "Concat of all parts of a Split, in their order and along its axis, is what was split",
             .roots = "Concat",
             .match = all_parts,
             .rewrite = the_whole,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "SplitConcat"},
        },
};

}  // namespace tenon::rules::clean_split_concat
