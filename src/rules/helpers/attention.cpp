// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/attention.h"

#include <limits>

namespace tenon::rules {
using namespace rewrite;

namespace {

/// [batch, heads, sequence, size], all but the heads those of `other`, whose heads' axis is followed by `extra` axes.
bool agree(const DimList& heads, const DimList& other, size_t extra) {
  return heads.size() == 4 && other.size() == 4 + extra && heads[0].known_equal(other[0]) && heads[2].known_equal(other[2 + extra]) &&
         heads[3].known_equal(other[3 + extra]);
}

/// Concat(past, x) along the sequence.
NodeId joined(const Match& m, ValueId value) {
  const NodeId concat = m.producer(value, "Concat");
  const bool fits = concat && m.rank(value) == 4 && m.node(concat).inputs.size() == 2 && m.axis(concat, "axis", 0, value) == 2;
  return fits ? concat : NodeId{};
}

}  // namespace

std::optional<RepeatedHeads> repeated_heads(const Match& m, ValueId value) {
  const NodeId flat = m.producer(value, "Reshape"), reshape = flat ? flat : m.producer(value, "Squeeze");
  const NodeId expand = reshape ? m.producer(m.operand(reshape, 0), "Expand") : NodeId{};
  const NodeId split = expand ? m.producer(m.operand(expand, 0)) : NodeId{};
  if (!split || !(m.node(split).is("Unsqueeze") || m.node(split).is("Reshape"))) return std::nullopt;
  const ValueId source = m.operand(split, 0);
  const DimList *out = m.shape(value), *wide = m.shape(m.result(expand)), *narrow = m.shape(m.result(split)), *in = m.shape(source);
  if (!out || !wide || !narrow || !in || !agree(*in, *narrow, 1) || !agree(*in, *wide, 1) || !agree(*in, *out, 0)) return std::nullopt;
  if (!(*narrow)[2].known_equal(1) || !(*in)[1].known_equal((*narrow)[1]) || !(*in)[1].known_equal((*wide)[1])) return std::nullopt;
  return RepeatedHeads{source, (*wide)[2]};
}

std::optional<CacheConcats> cache_concats_of(const Match& m) {
  const NodeId keys = joined(m, m.operand(m.root(), 1)), values = joined(m, m.operand(m.root(), 2));
  return keys && values ? std::optional(CacheConcats{keys, values}) : std::nullopt;
}

bool replace_with_cached_attention(const Match& m, Rewriter& w, const CacheConcats& past, std::string_view op) {
  const std::vector<ValueId> inputs{m.operand(m.root(), 0), m.operand(past.keys, 1), m.operand(past.values, 1),
                                    m.operand(m.root(), 3), m.operand(past.keys, 0), m.operand(past.values, 0)};
  const auto& attributes = m.node(m.root()).attributes;
  const auto results = w.many(op, inputs, 3, {attributes.begin(), attributes.end()});
  if (results.size() < 3) return false;
  w.replace(m.result(m.root()), results[0]);
  w.replace(m.result(past.keys), results[1]);
  if (past.values != past.keys) w.replace(m.result(past.values), results[2]);
  return true;
}

ValueId operand_with_query_length(const Match& m, NodeId attention) {
  const ValueId queries = m.operand(attention, 0), keys = m.operand(attention, 1);
  const DimList *a = m.shape(queries), *b = m.shape(keys);
  return a && b && a->size() == 4 && b->size() == 4 && (*a)[2].known_equal((*b)[2]) ? keys : queries;
}

ValueId positions_along(Rewriter& w, ValueId x, int64_t axis) {
  const ValueId length = w("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
  return w("Range", {w.scalar(DType::i64, 0), w("Squeeze", {length, w.ints({0})}), w.scalar(DType::i64, 1)});
}

ValueId combined_mask(Rewriter& w, ValueId mask, ValueId visible) {
  if (!mask) return visible;
  const DType dtype = w.graph().value(mask).type.dtype;
  if (dtype == DType::boolean) return w("And", {mask, visible});
  return w("Where", {visible, mask, w.scalar(dtype, -std::numeric_limits<double>::infinity())});
}

}  // namespace tenon::rules
