// SPDX-License-Identifier: Apache-2.0
// Sequences that are made only to be read at known places: the elements themselves. Exact: no element is computed.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/last_axis_slice.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_sequence {
using namespace rewrite;
namespace {

constexpr int64_t kMostParts = 1024;  ///< a Split of more results is no gain

/// The element that a SequenceAt takes from a sequence of `length`; nullopt where it is not known, or there is none.
std::optional<int64_t> place_of(const Match& m, NodeId at, int64_t length) {
  const auto place = single_integer(m, m.operand(at, 1), std::nullopt);
  if (!place || *place < -length || *place >= length) return std::nullopt;
  return *place < 0 ? *place + length : *place;
}

bool known_element(Match& m) {
  const NodeId made = m.producer(m.operand(m.root(), 0), "SequenceConstruct");
  if (!made) return false;
  const auto place = place_of(m, m.root(), m.node(made).explicit_inputs);
  if (!place) return m.refuse("the place is not known, or outside");
  return m.accept(m.operand(made, static_cast<size_t>(*place)));
}

struct Parts {
  ir::Ints sizes;
  bool drops_axis;
  std::vector<std::pair<NodeId, int64_t>> readers;  ///< and which part each takes
};

/// `size` in equal parts, the last of which may be smaller.
std::optional<ir::Ints> equal_parts(int64_t size, int64_t part) {
  if (part <= 0 || size / part > kMostParts) return std::nullopt;
  ir::Ints out;
  for (int64_t left = size; left > 0; left -= part) out.push_back(std::min(part, left));
  return out;
}

std::optional<ir::Ints> sizes_of(const Match& m) {
  const ValueId data = m.operand(m.root(), 0), split = m.operand(m.root(), 1);
  const auto given = split ? m.ints(split) : std::optional(ir::Ints{1});
  if (!given) return std::nullopt;
  if (split && m.rank(split) == 1)
    return std::ranges::any_of(*given, [](int64_t n) { return n < 0; }) || given->size() > kMostParts ? std::nullopt : given;
  const auto axis = m.axis(m.root(), "axis", 0, data);
  const Dim size = axis ? (*m.shape(data))[static_cast<size_t>(*axis)] : Dim();
  return axis && size.is_number() ? equal_parts(size.value(), (*given)[0]) : std::nullopt;
}

bool known_parts(Match& m) {
  auto sizes = sizes_of(m);
  if (!sizes || sizes->empty()) return m.refuse("the sizes of the parts are not known, or they are many");
  const bool drops_axis = !m.operand(m.root(), 1) && m.node(m.root()).attributes.integer("keepdims", 1) == 0;
  Parts found{std::move(*sizes), drops_axis, {}};
  for (const ir::Use& use : m.value(m.result(m.root())).uses) {
    if (!use.node || use.slot != 0 || !m.node(use.node).is("SequenceAt")) return m.refuse("the sequence has other readers");
    const auto place = place_of(m, use.node, static_cast<int64_t>(found.sizes.size()));
    if (!place) return m.refuse("a place is not known, or outside");
    found.readers.emplace_back(use.node, *place);
    m.take(use.node);
    m.other_roots.push_back(use.node);
  }
  return m.accept(std::move(found));
}

bool split(const Match& m, Rewriter& w) {
  const Parts& found = m.state<Parts>();
  const int64_t axis = m.node(m.root()).attributes.integer("axis", 0);
  const auto parts = w.many("Split", {m.operand(m.root(), 0), w.ints(found.sizes)}, found.sizes.size(), {{"axis", axis}});
  std::vector<ValueId> given(parts.size());
  for (const auto& [reader, place] : found.readers) {
    ValueId& part = given[static_cast<size_t>(place)];
    if (!part)
      part = found.drops_axis ? w("Squeeze", {parts[static_cast<size_t>(place)], w.ints({axis})}) : parts[static_cast<size_t>(place)];
    w.replace(m.result(reader), part);
  }
  return true;
}

}  // namespace

RULES(clean_sequence) {
    .sets = "tenon default canonical",
    .rules =
        {
            {.name = "sequence_construct_at",
             .docs = "a known element of a sequence that is put together is that element",
             .roots = "SequenceAt",
             .match = known_element,
             .rewrite = replace_root_with_state,
             .benefit = 10,
             .allow_outside_uses = true,
             .covered_patterns = "SequenceConstructAt"},
            {.name = "split_to_sequence_at",
             .docs = "parts that are only read at known places are those of a Split, each with a Squeeze where the axis goes",
             .roots = "SplitToSequence",
             .match = known_parts,
             .rewrite = split,
             .benefit = 10,
             .allow_outside_uses = true,
             .covered_patterns = "SplitToSequenceSequenceAt"},
        },
};

}  // namespace tenon::rules::clean_sequence
