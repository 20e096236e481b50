// SPDX-License-Identifier: Apache-2.0
// Where a dim stays as it is, the target of an Expand may say 1; so only the dims that change need to be computed, and two Expands need
// one target.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/expands.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_expand_target {
using namespace rewrite;
namespace {

bool known_target(Match& m) {
  const DimList *from = m.shape(m.operand(m.root(), 0)), *to = m.shape(m.result(m.root()));
  if (!from || !to || m.is_constant(m.operand(m.root(), 1))) return false;
  auto target = expand_target(m, *from, *to, {});
  if (!target) return m.refuse("a symbolic size is new");
  return m.accept(std::move(*target));
}

bool constant_target(const Match& m, Rewriter& w) { return replace_root(m, w, expand(w, m.operand(m.root(), 0), m.state<ExpandTarget>())); }

bool two_expands(Match& m) {
  const NodeId inner = m.take(m.operand(m.root(), 0), "Expand");
  const DimList *from = inner ? m.shape(m.operand(inner, 0)) : nullptr, *to = m.shape(m.result(m.root()));
  if (!from || !to) return false;
  const NodeId both[] = {m.root(), inner};
  auto target = expand_target(m, *from, *to, both);
  if (!target) return m.refuse("neither target alone is known to do it");
  return m.accept(std::move(*target));
}

bool one_expand(const Match& m, Rewriter& w) { return replace_root(m, w, expand(w, m.operand(m.nodes[1], 0), m.state<ExpandTarget>())); }

/// Matches an Expand whose target is a Concat of one-element pieces, of which some only repeat a dim of the operand: these become 1.
bool needless_pieces(Match& m) {
  const NodeId concat = m.producer(m.operand(m.root(), 1), "Concat");
  const DimList *from = m.shape(m.operand(m.root(), 0)), *to = m.shape(m.result(m.root()));
  if (!concat || !from || !to || from->size() != to->size() || m.node(concat).explicit_inputs != to->size()) return false;
  std::vector<ValueId> pieces;
  bool needless = false;
  for (size_t i = 0; i < to->size(); ++i) {
    const ValueId piece = m.operand(concat, i);
    const DimList* length = m.shape(piece);
    if (!length || length->size() != 1 || !(*length)[0].known_equal(1)) return m.refuse("a piece is not one element");
    const bool stays = (*from)[i].known_equal((*to)[i]);
    pieces.push_back(stays ? ValueId{} : piece);
    needless |= stays && !m.is_constant(piece);
  }
  if (!needless) return m.refuse("every piece is constant or changes a dim");
  return m.accept(std::move(pieces));
}

bool ones_instead(const Match& m, Rewriter& w) {
  std::vector<ValueId> pieces = m.state<std::vector<ValueId>>();
  for (ValueId& piece : pieces)
    if (!piece) piece = w.ints({1});
  const ValueId target = w("Concat", pieces, {{"axis", int64_t{0}}});
  return replace_root(m, w, w("Expand", {m.operand(m.root(), 0), target}));
}

}  // namespace

RULES(clean_expand_target) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "expand_static",
             .docs = "an Expand whose new sizes are numbers gets a constant target",
             .roots = "Expand",
             .match = known_target,
             .rewrite = constant_target,
             .benefit = 7,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "ShapeBasedStaticExpand"},
            {.name = "expand_expand",
             .docs = "two Expands are one",
             .roots = "Expand",
             .match = two_expands,
             .rewrite = one_expand,
             .benefit = 6,
             .sets = "tenon default canonical"},
            {.name = "expand_concat",
             .docs = "a target put together from pieces says 1 where a size stays",
             .roots = "Expand",
             .match = needless_pieces,
             .rewrite = ones_instead,
             .benefit = 6,
             .allow_outside_uses = true,
             .sets = "default",
             .covered_patterns = "ShapeBasedConcatExpand"},
        },
};

}  // namespace tenon::rules::clean_expand_target
