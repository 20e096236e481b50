// SPDX-License-Identifier: Apache-2.0
// An Expand before an op that broadcasts anyway repeats what the op does itself.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_expand {
using namespace rewrite;
namespace {

struct Slot {
  size_t slot;
  ValueId source;
};

/// Every dim of the result is already that of some operand when operand `slot` is `source`.
bool covers(const Match& m, size_t slot, ValueId source) {
  const DimList* result = m.shape(m.result(m.root()));
  if (!result) return false;
  const Node& node = m.node(m.root());
  for (size_t axis = 0; axis < result->size(); ++axis) {
    bool covered = (*result)[axis].known_equal(1);
    for (size_t i = 0; i < node.explicit_inputs && !covered; ++i) {
      const DimList* shape = m.shape(i == slot ? source : node.inputs[i]);
      if (!shape) return false;
      const size_t shift = result->size() - shape->size();
      covered = axis >= shift && (*shape)[axis - shift].known_equal((*result)[axis]);
    }
    if (!covered) return false;
  }
  return true;
}

bool needless(Match& m) {
  const Node& node = m.node(m.root());
  for (size_t slot = 0; slot < node.explicit_inputs; ++slot) {
    const NodeId expand = m.producer(node.inputs[slot], "Expand");
    if (!expand || !covers(m, slot, m.operand(expand, 0))) continue;
    return m.accept(Slot{slot, m.operand(expand, 0)});
  }
  return false;
}

/// The last two axes of `source` are those of the Expand, and every axis before them is there in an operand of the MatMul without it.
bool covers_matmul(const Match& m, size_t slot, ValueId source) {
  const DimList *result = m.shape(m.result(m.root())), *small = m.shape(source), *large = m.shape(m.operand(m.root(), slot));
  const DimList* other = m.shape(m.operand(m.root(), 1 - slot));
  if (!result || !small || !large || !other || small->size() < 2 || other->size() < 2) return false;
  for (size_t k : {1, 2})
    if (!(*small)[small->size() - k].known_equal((*large)[large->size() - k])) return false;
  for (size_t back = 3; back <= result->size(); ++back) {
    const Dim wanted = (*result)[result->size() - back];
    const auto has = [&](const DimList* shape) { return back <= shape->size() && (*shape)[shape->size() - back].known_equal(wanted); };
    if (!has(small) && !has(other) && !(back <= small->size() && wanted.known_equal(1))) return false;
  }
  return small->size() >= result->size() || other->size() >= result->size();
}

bool needless_batch(Match& m) {
  for (size_t slot : {0, 1}) {
    const NodeId expand = m.producer(m.operand(m.root(), slot), "Expand");
    if (!expand || !covers_matmul(m, slot, m.operand(expand, 0))) continue;
    return m.accept(Slot{slot, m.operand(expand, 0)});
  }
  return false;
}

bool drop(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  inputs[m.state<Slot>().slot] = m.state<Slot>().source;
  return replace_root(m, w, w.clone_with_operands(m.root(), inputs)[0]);
}

}  // namespace

RULES(clean_expand) {
    .rules =
        {
            {.name = "expand_needless",
             .docs = "an Expand before an op that broadcasts the same axes itself",
             .roots = "Add Sub Mul Div Pow Max Min And Or Xor Equal Less LessOrEqual Greater GreaterOrEqual Where",
             .match = needless,
             .rewrite = drop,
             .benefit = 4,
             .allow_outside_uses = true,
             .sets = "tenon default",
             .covered_patterns = "ExpandBroadcast ShapeBasedExpandBroadcast"},
            {.name = "expand_matmul",
             .docs = "an Expand of leading axes before a MatMul that broadcasts them itself",
             .roots = "MatMul",
             .match = needless_batch,
             .rewrite = drop,
             .benefit = 4,
             .allow_outside_uses = true,
             .sets = "tenon default",
             .covered_patterns = "ShapeBasedExpandBroadcastMatMul"},
        },
};

}  // namespace tenon::rules::clean_expand
