// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/last_axis_slice.h"

namespace tenon::rules {

using ir::Node;
using ir::NodeId;
using ir::ValueId;
using rewrite::GraphQuery;
using rewrite::Match;

std::optional<int64_t> single_integer(const GraphQuery& query, ValueId value, std::optional<int64_t> default_value) {
  if (!value) return default_value;
  const auto list = query.ints(value);
  return list && list->size() == 1 ? std::optional((*list)[0]) : std::nullopt;
}

std::optional<int64_t> last_axis_size(const GraphQuery& query, ValueId value) {
  const DimList* shape = query.shape(value);
  return shape && !shape->empty() && shape->back().is_number() ? std::optional(shape->back().value()) : std::nullopt;
}

namespace {

std::optional<int64_t> slice_begin(const GraphQuery& query, NodeId slice, int64_t size) {
  const auto begin = single_integer(query, query.operand(slice, 1), std::nullopt), axis = single_integer(query, query.operand(slice, 3), 0);
  if (!begin || !axis || (*axis != -1 && *axis != *query.rank(query.operand(slice, 0)) - 1)) return std::nullopt;
  return *begin < 0 ? *begin + size : *begin;
}

/// The sizes of the parts before `value`.
std::optional<int64_t> split_begin(const GraphQuery& query, NodeId split, ValueId value) {
  const ValueId x = query.operand(split, 0);
  if (query.axis(split, "axis", 0, x) != *query.rank(x) - 1) return std::nullopt;
  int64_t begin = 0;
  for (size_t i = 0; query.result(split, i) != value; ++i) {
    const auto size = query.result(split, i) ? last_axis_size(query, query.result(split, i)) : std::nullopt;
    if (!size) return std::nullopt;
    begin += *size;
  }
  return begin;
}

/// The last size of what a Split takes apart.
std::optional<int64_t> split_size(const GraphQuery& query, NodeId split) {
  int64_t size = 0;
  for (ValueId part : query.node(split).outputs) {
    const auto length = part ? last_axis_size(query, part) : std::nullopt;
    if (!length) return std::nullopt;
    size += *length;
  }
  return size;
}

}  // namespace

std::optional<LastAxisSlice> last_axis_slice_of(const GraphQuery& query, ValueId value) {
  const NodeId node = query.producer(value);
  const bool slice = node && query.node(node).is("Slice");
  if (!slice && !(node && query.node(node).is("Split"))) return std::nullopt;
  const ValueId x = query.operand(node, 0);
  auto size = last_axis_size(query, x);
  const auto length = last_axis_size(query, value);
  if (!size && !slice) size = split_size(query, node);
  const auto step = slice ? single_integer(query, query.operand(node, 4), 1) : std::optional<int64_t>(1);
  if (!size || !length || !step) return std::nullopt;
  const auto begin = slice ? slice_begin(query, node, *size) : split_begin(query, node, value);
  return begin ? std::optional(LastAxisSlice{x, *begin, *step, *length, *size}) : std::nullopt;
}

namespace {

std::optional<LastAxisSlice> take_slice(Match& m, ValueId value) {
  auto found = last_axis_slice_of(m, value);
  if (found) m.take(m.producer(value));
  return found;
}

/// [-b, a] of the results of one Split into two along the last axis, whose size is not known.
std::optional<RotatedHalves> negated_half(Match& m, ValueId first, ValueId second) {
  const NodeId neg = m.producer(first, "Neg"), split = neg ? m.producer(second, "Split") : NodeId{};
  if (!split || m.node(split).outputs.size() != 2 || m.operand(split, 1) || m.result(split, 0) != second) return std::nullopt;
  const ValueId x = m.operand(split, 0);
  if (m.operand(neg, 0) != m.result(split, 1) || !m.rank(x) || last_axis_size(m, x)) return std::nullopt;
  if (m.axis(split, "axis", 0, x) != *m.rank(x) - 1) return std::nullopt;
  m.take(neg);
  m.take(split);
  return RotatedHalves{x, false, -1};
}

/// [-b, a], the parts of x exchanged; `step`: 1 for halves, 2 for pairs.
std::optional<RotatedHalves> rotated_from(Match& m, ValueId first, ValueId second, int64_t step) {
  const NodeId neg = m.take(first, "Neg");
  if (!neg) return std::nullopt;
  const auto b = take_slice(m, m.operand(neg, 0)), a = take_slice(m, second);
  if (!a || !b || a->x != b->x) return std::nullopt;
  const RotatedHalves found{a->x, step == 2, a->size};
  const int64_t half = found.size / 2;
  const bool fits = found.size == 2 * a->length && b->length == half && a->step == step && b->step == step && a->begin == 0 &&
                    b->begin == (step == 1 ? half : 1);
  return fits ? std::optional(found) : std::nullopt;
}

/// Unsqueeze(x, last axis)
ValueId without_last(Match& m, ValueId value) {
  const NodeId node = m.take(value, "Unsqueeze");
  const DimList *wide = m.shape(value), *narrow = node ? m.shape(m.operand(node, 0)) : nullptr;
  if (!wide || !narrow || !wide->back().known_equal(1)) return {};
  for (size_t i = 0; i < narrow->size(); ++i)
    if (!(*wide)[i].known_equal((*narrow)[i])) return {};
  return m.operand(node, 0);
}

}  // namespace

std::optional<RotatedHalves> rotated_halves(Match& m, ValueId value) {
  const NodeId flat = m.producer(value, "Reshape");
  const ValueId joined = flat ? m.operand(flat, 0) : value;
  const NodeId concat = m.take(joined, "Concat");
  if (!concat || m.node(concat).inputs.size() != 2 || !m.rank(joined)) return std::nullopt;
  if (m.axis(concat, "axis", -1, joined) != *m.rank(joined) - 1) return std::nullopt;
  ValueId first = m.operand(concat, 0), second = m.operand(concat, 1);
  if (!flat)
    if (auto halves = negated_half(m, first, second)) return halves;
  if (!flat) return rotated_from(m, first, second, 1);
  m.take(flat);
  first = without_last(m, first);
  second = first ? without_last(m, second) : ValueId{};
  auto found = second ? rotated_from(m, first, second, 2) : std::nullopt;
  return found && m.same_shape(found->x, value) ? found : std::nullopt;
}

}  // namespace tenon::rules
