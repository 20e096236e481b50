// SPDX-License-Identifier: Apache-2.0
// Smaller masks for Attention, which broadcasts every axis of its mask but the last: without them a mask takes memory that grows
// with the square of the sequence. Exact: the conditions that are left out always hold, or Attention states them itself.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/iota.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::fuse_attention_mask {
using namespace rewrite;
namespace {

bool is_all_true(const Match& m, ValueId condition) {
  const Tensor* t = m.is_constant(condition) && m.dtype(condition) == DType::boolean ? m.graph().tensor_of(condition) : nullptr;
  if (!t) return false;
  for (int64_t i = 0; i < t->count(); ++i)
    if (t->integer(i) == 0) return false;
  return true;
}

/// GreaterOrEqual(range, c) where no element of the range is below c: exporters write it for "every query may look". Where the sizes are
/// numbers it has become a constant.
bool always_holds(const Match& m, ValueId condition) {
  if (is_all_true(m, condition)) return true;
  const NodeId at_least = m.producer(condition, "GreaterOrEqual"), at_most = at_least ? NodeId{} : m.producer(condition, "LessOrEqual");
  if (!at_least && !at_most) return false;
  const ValueId high = at_least ? m.operand(at_least, 0) : m.operand(at_most, 1),
                low = at_least ? m.operand(at_least, 1) : m.operand(at_most, 0);
  const NodeId range = range_of(m, high);
  const auto bound = m.is_constant(low) ? m.number(low) : std::nullopt;
  if (!range || !bound || !is_integer(m.dtype(high))) return false;
  const auto start = m.number(m.operand(range, 0)), step = m.number(m.operand(range, 2));
  return start && step && *start >= *bound && *step > 0;
}

/// Positions along the axis `from_end` (1: last).
bool is_position(const Match& m, ValueId value, int from_end) {
  const auto rank = m.rank(value);
  return rank && *rank >= 2 && iota_length(m, value, static_cast<size_t>(*rank - from_end));
}

/// key position <= query position.
bool is_causal(const Match& m, ValueId condition) {
  const NodeId at_most = m.producer(condition, "LessOrEqual"), at_least = at_most ? NodeId{} : m.producer(condition, "GreaterOrEqual");
  if (!at_most && !at_least) return false;
  const ValueId keys = at_most ? m.operand(at_most, 0) : m.operand(at_least, 1),
                queries = at_most ? m.operand(at_most, 1) : m.operand(at_least, 0);
  return is_position(m, keys, 1) && is_position(m, queries, 2);
}

struct NarrowedMask {
  std::vector<ValueId> conditions;  ///< what is left of the And tree
  NodeId where;                     ///< around the tree, where the mask is added; none for a bool mask
  bool dropped = false, causal = false;
};

/// Takes the And tree apart.
void collect(const Match& m, ValueId value, NarrowedMask& found, bool take_causal, int depth) {
  const NodeId conjunction = depth > 0 ? m.producer(value, "And") : NodeId{};
  const NodeId expand = conjunction ? NodeId{} : m.producer(value, "Expand");
  if (conjunction) {
    for (size_t i : {0, 1}) collect(m, m.operand(conjunction, i), found, take_causal, depth - 1);
  } else if (expand && depth > 0) {
    found.dropped = true;
    collect(m, m.operand(expand, 0), found, take_causal, depth - 1);
  } else if (always_holds(m, value)) {
    found.dropped = true;
  } else if (take_causal && is_causal(m, value)) {
    found.dropped = found.causal = true;
  } else {
    found.conditions.push_back(value);
  }
}

/// The conditions together still cover each key: one of them has the full last axis.
bool covers_keys(const Match& m, const NarrowedMask& found) {
  const DimList* keys = m.shape(m.operand(m.root(), 1));
  if (!keys || keys->size() != 4) return false;
  bool covered = false;
  for (ValueId v : found.conditions) {
    const DimList* shape = m.shape(v);
    if (!shape || shape->empty()) return false;
    covered |= shape->size() >= 2 && shape->back().known_equal((*keys)[2]);
  }
  return covered;
}

/// The condition of a mask that is a Where of two numbers, or the mask itself where it is boolean.
ValueId condition_of(const Match& m, ValueId mask, NodeId where) {
  if (!where) return mask;
  const auto scalar = [&](size_t i) { return m.is_constant(m.operand(where, i)) && m.number(m.operand(where, i)); };
  return scalar(1) && scalar(2) ? m.operand(where, 0) : ValueId{};
}

bool narrower(Match& m) {
  const ValueId mask = m.operand(m.root(), 3);
  if (!mask || m.operand(m.root(), 4) || m.operand(m.root(), 6)) return false;
  NarrowedMask found;
  found.where = m.producer(mask, "Where");
  const ValueId condition = condition_of(m, mask, found.where);
  if (!condition || m.dtype(condition) != DType::boolean) return false;
  const bool already = m.node(m.root()).attributes.integer("is_causal", 0) != 0;
  const DimList *q = m.shape(m.operand(m.root(), 0)), *k = m.shape(m.operand(m.root(), 1));
  if (!q || !k || q->size() != 4 || k->size() != 4) return false;
  collect(m, condition, found, !found.where && !already, 8);
  if (!found.dropped || (found.conditions.empty() && found.where) || (!found.conditions.empty() && !covers_keys(m, found))) return false;
  // A mask that always holds hides the keys all the same that it does not reach.
  const DimList* shape = m.shape(condition);
  if (found.conditions.empty() && (!shape || shape->empty() || !shape->back().known_equal((*k)[2]))) return false;
  return m.accept(std::move(found));
}

bool narrow(const Match& m, Rewriter& w) {
  const NarrowedMask& found = m.state<NarrowedMask>();
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  ValueId condition;
  for (ValueId v : found.conditions) condition = condition ? w("And", {condition, v}) : v;
  if (found.where) {
    const DType dtype = m.dtype(m.operand(m.root(), 3));
    const auto fill = [&](size_t i) { return w.scalar(dtype, *m.number(m.operand(found.where, i))); };
    condition = w("Where", {condition, fill(1), fill(2)});
  }
  inputs[3] = condition;
  while (!inputs.back()) inputs.pop_back();
  auto attributes = attributes_except(m.node(m.root()), {found.causal ? "is_causal" : ""});
  if (found.causal) attributes.emplace_back("is_causal", int64_t{1});
  return replace_root_results(m, w, w.many("Attention", inputs, m.node(m.root()).outputs.size(), std::move(attributes)));
}

/// An Expand directly before the mask.
bool expanded(Match& m) {
  const NodeId expand = m.producer(m.operand(m.root(), 3), "Expand");
  if (!expand) return false;
  const ValueId source = m.operand(expand, 0), key = m.operand(m.root(), 1);
  const DimList *shape = m.shape(source), *wide = m.shape(m.result(expand)), *keys = m.shape(key);
  if (!shape || !wide || !keys || shape->size() < 2 || keys->size() != 4 || m.operand(m.root(), 4)) return false;
  if (!shape->back().known_equal((*keys)[2]) || !wide->back().known_equal((*keys)[2])) return false;
  return m.accept(source);
}

bool unexpanded(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  inputs[3] = m.state<ValueId>();
  return replace_root(m, w, w.clone_with_operands(m.root(), inputs)[0]);
}

}  // namespace

RULES(fuse_attention_mask) {
    .rules =
        {
            {.name = "attention_mask",
             .docs = "an Expand before the mask: Attention broadcasts it itself",
             .roots = "Attention",
             .match = expanded,
             .rewrite = unexpanded,
             .benefit = 5,
             .allow_outside_uses = true},
            {.name = "attention_conditions",
             .docs = "mask conditions that always hold are left out; key <= query becomes is_causal",
             .roots = "Attention",
             .match = narrower,
             .rewrite = narrow,
             .benefit = 4,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::fuse_attention_mask
