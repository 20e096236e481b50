// SPDX-License-Identifier: Apache-2.0
// Forms that exporters write around a rotary embedding: halves that are scattered into zeros and added, and heads of which only the first
// part is rotated. Adding 0 keeps every number (but -0, which becomes 0); RotaryEmbedding copies what follows the rotated part.
#include <algorithm>
#include <span>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/last_axis_slice.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::fuse_rotary_parts {
using namespace rewrite;
namespace {

/// Zeros everywhere, known or made by ConstantOfShape.
bool all_zero(const Match& m, ValueId value) {
  if (m.is_number(value, 0)) return true;
  const NodeId made = m.producer(value, "ConstantOfShape");
  const ir::Attribute* fill = made ? m.node(made).attributes.find("value") : nullptr;
  return made && (!fill || (std::holds_alternative<Tensor>(*fill) && std::get<Tensor>(*fill).number(0) == 0));
}

using Parts = std::vector<ValueId>;

/// Whether x and y have the same rank and provably the same size on `axis`. Where both are parts of Concats along other axes, other sizes
/// follow from these.
bool same_width(const Match& m, ValueId x, ValueId y, int axis) {
  const DimList *a = m.shape(x), *b = m.shape(y);
  return a && b && a->size() == b->size() && (*a)[axis].known_equal((*b)[axis]);
}

/// Whether all parts have provably equal sizes on axes other than `axis`.
bool same_without(const Match& m, const std::vector<ValueId>& parts, int axis) {
  for (ValueId part : parts) {
    const DimList *a = m.shape(parts[0]), *b = m.shape(part);
    for (size_t k = 0; k < a->size(); ++k)
      if (static_cast<int>(k) != axis && !(*a)[k].known_equal((*b)[k])) return false;
  }
  return true;
}

/// Concat(a, 0) + Concat(0, b)
bool parts_in_zeros(Match& m) {
  const NodeId a = m.take(m.operand(m.root(), 0), "Concat"), b = m.take(m.operand(m.root(), 1), "Concat");
  if (!a || !b || a == b || m.node(a).inputs.size() != m.node(b).inputs.size() || !is_arithmetic_float(m.dtype(m.result(a)))) return false;
  const auto axis = m.axis(a, "axis", 0, m.result(a));
  if (!axis || axis != m.axis(b, "axis", 0, m.result(b))) return false;
  Parts parts;
  for (size_t i = 0; i < m.node(a).inputs.size(); ++i) {
    const ValueId x = m.operand(a, i), y = m.operand(b, i);
    if (!same_width(m, x, y, *axis)) return m.refuse("the parts do not line up");
    if (!all_zero(m, x) && !all_zero(m, y)) return m.refuse("both parts hold numbers");
    parts.push_back(all_zero(m, x) ? y : x);
  }
  if (!same_without(m, parts, *axis)) return m.refuse("a part may be repeated");
  return m.accept(std::move(parts));
}

bool join_parts(const Match& m, Rewriter& w) { return replace_root(m, w, w.clone_with_operands(m.nodes[1], m.state<Parts>())[0]); }

struct Partial {
  NodeId rotary;
  ValueId x;
  int64_t rotated;
};

/// Concat(RotaryEmbedding(x[..., :r]), x[..., r:])
bool first_part(Match& m) {
  const ValueId y = m.result(m.root());
  if (m.node(m.root()).inputs.size() != 2 || m.rank(y) != 4 || m.axis(m.root(), "axis", 0, y) != 3) return false;
  const NodeId rotary = m.take(m.operand(m.root(), 0), "RotaryEmbedding");
  if (!rotary || m.node(rotary).attributes.integer("rotary_embedding_dim", 0) != 0) return false;
  const auto rotated = last_axis_slice_of(m, m.operand(rotary, 0)), rest = last_axis_slice_of(m, m.operand(m.root(), 1));
  if (!rotated || !rest || rotated->x != rest->x || rotated->step != 1 || rest->step != 1) return false;
  const bool whole = rotated->begin == 0 && rotated->length == rest->begin && rest->begin + rest->length == rotated->size;
  const DimList *x = m.shape(rotated->x), *all = m.shape(y);
  if (!whole || !x || !std::ranges::equal(std::span(*x).first(3), std::span(*all).first(3), &Dim::known_equal))
    return m.refuse("the parts are not the whole");
  return m.accept(Partial{rotary, rotated->x, rotated->length});
}

bool rotate_part(const Match& m, Rewriter& w) {
  const Partial& found = m.state<Partial>();
  std::vector<ValueId> inputs = m.node(found.rotary).inputs;
  inputs[0] = found.x;
  auto attributes = attributes_except(m.node(found.rotary), {"rotary_embedding_dim"});
  attributes.emplace_back("rotary_embedding_dim", found.rotated);
  return replace_root(m, w, w("RotaryEmbedding", inputs, std::move(attributes)));
}

}  // namespace

RULES(fuse_rotary_parts) {
    .sets = "default",
    .rules =
        {
            {.name = "parts_in_zeros",
             .docs = "Concat(a, 0) + Concat(0, b) is Concat(a, b): halves that were written into zeros",
             .roots = "Add",
             .match = parts_in_zeros,
             .rewrite = join_parts,
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .covered_patterns = "RotaryConcatPart"},
            {.name = "rotary_partial",
             .docs = "a head whose first part is rotated and whose rest stays is RotaryEmbedding with that many elements",
             .roots = "Concat",
             .match = first_part,
             .rewrite = rotate_part,
             .benefit = 5,
             .sets = "tenon default",
             .covered_patterns = "RotaryEmbedding"},
        },
};

}  // namespace tenon::rules::fuse_rotary_parts
