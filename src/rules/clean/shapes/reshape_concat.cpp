// SPDX-License-Identifier: Apache-2.0
// One size of a Reshape follows from the others: a target put together at the run may say -1 in place of one computed piece. That holds
// where no other size can be 0 (or each that can is the operand's own, so that it cancels): else -1 would not be determined.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_reshape_concat {
using namespace rewrite;
namespace {

struct Piece {
  ValueId value;
  std::optional<ir::Ints> numbers;
  size_t first;  ///< where it is in the target
  size_t length;
};
struct Target {
  std::vector<Piece> pieces;
  size_t open = 0;  ///< the piece that becomes -1
};

std::optional<std::vector<Piece>> pieces_of(const Match& m) {
  const NodeId concat = m.producer(m.operand(m.root(), 1), "Concat");
  if (!concat || m.node(m.root()).attributes.integer("allowzero", 0) != 0) return std::nullopt;
  std::vector<Piece> pieces;
  size_t at = 0;
  for (size_t i = 0; i < m.node(concat).explicit_inputs; ++i) {
    const ValueId value = m.operand(concat, i);
    const DimList* length = m.shape(value);
    if (!length || length->size() != 1 || !(*length)[0].is_number()) return std::nullopt;
    pieces.push_back({value, m.ints(value), at, static_cast<size_t>((*length)[0].value())});
    at += pieces.back().length;
    if (pieces.back().numbers && std::ranges::count(*pieces.back().numbers, -1)) return std::nullopt;
  }
  return pieces;
}

bool is_open(const Piece& p) { return !p.numbers && p.length == 1; }

/// Read from the shape of something, as it is there.
bool from_shape(const Match& m, ValueId value) {
  for (int depth = 0; depth < 4; ++depth) {
    const NodeId node = m.producer(value);
    if (!node) return false;
    if (m.node(node).is("Shape")) return true;
    if (!m.node(node).is("Gather") && !m.node(node).is("Slice") && !m.node(node).is("Unsqueeze")) return false;
    value = m.operand(node, 0);
  }
  return false;
}

/// All sizes but those of piece `open` are above 0, copied, or the operand's own at their axis.
bool are_other_sizes_safe(const Match& m, const std::vector<Piece>& pieces, size_t open) {
  const auto sizes = m.graph().view(m.root()).dims(1);
  const DimList* from = m.shape(m.operand(m.root(), 0));
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i == open || pieces[i].numbers) continue;
    if (!sizes) return false;
    for (size_t k = pieces[i].first; k < pieces[i].first + pieces[i].length; ++k) {
      const bool own = from && k < from->size() && (*from)[k].known_equal((*sizes)[k]);
      if (!own && (*sizes)[k].lower() < 1) return false;
    }
  }
  return true;
}

bool one_computed(Match& m) {
  auto pieces = pieces_of(m);
  if (!pieces) return false;
  const auto computed = std::ranges::count_if(*pieces, [](const Piece& p) { return !p.numbers; });
  const auto open = std::ranges::find_if(*pieces, is_open);
  if (computed != 1 || open == pieces->end()) return m.refuse("not exactly one computed size");
  const size_t at = static_cast<size_t>(open - pieces->begin());
  return m.accept(Target{std::move(*pieces), at});
}

bool constant_target(const Match& m, Rewriter& w) {
  ir::Ints target;
  for (const Piece& p : m.state<Target>().pieces) {
    if (p.numbers) target.insert(target.end(), p.numbers->begin(), p.numbers->end());
    else target.push_back(-1);
  }
  return replace_root(m, w, w("Reshape", {m.operand(m.root(), 0), w.ints(std::move(target))}));
}

/// Several computed sizes: one that is no dim of something first, else the last.
bool several_computed(Match& m) {
  auto pieces = pieces_of(m);
  if (!pieces || std::ranges::count_if(*pieces, [](const Piece& p) { return !p.numbers; }) < 2) return false;
  std::vector<size_t> order;
  for (bool dims : {false, true})
    for (size_t i = pieces->size(); i-- > 0;)
      if (is_open((*pieces)[i]) && from_shape(m, (*pieces)[i].value) == dims) order.push_back(i);
  for (size_t i : order) {
    if (!are_other_sizes_safe(m, *pieces, i)) continue;
    return m.accept(Target{std::move(*pieces), i});
  }
  return m.refuse("another size may be 0, which would leave -1 open");
}

bool open_piece(const Match& m, Rewriter& w) {
  const Target& found = m.state<Target>();
  std::vector<ValueId> pieces;
  for (size_t i = 0; i < found.pieces.size(); ++i) pieces.push_back(i == found.open ? w.ints({-1}) : found.pieces[i].value);
  const ValueId target = w("Concat", pieces, {{"axis", int64_t{0}}});
  return replace_root(m, w, w("Reshape", {m.operand(m.root(), 0), target}));
}

}  // namespace

RULES(clean_reshape_concat) {
    .sets = "default",
    .rules =
        {
            {.name = "reshape_concat_static",
             .docs = "a target with one computed size among constants is constant, with -1 in its place",
             .roots = "Reshape",
             .match = one_computed,
             .rewrite = constant_target,
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "StaticConcatReshape"},
            {.name = "reshape_concat",
             .docs = "of several computed sizes in a target one becomes -1",
             .roots = "Reshape",
             .match = several_computed,
             .rewrite = open_piece,
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "ConcatReshape"},
        },
};

}  // namespace tenon::rules::clean_reshape_concat
