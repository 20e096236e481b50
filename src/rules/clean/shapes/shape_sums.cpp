// SPDX-License-Identifier: Apache-2.0
// Sums of sizes: what a Concat joins has the sum as its size, and a Range that is shifted is a Range.
// The shift is exact because it is made only where bounds of the sizes show that no sum wraps around.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_shape_sums {
using namespace rewrite;
namespace {

/// The value whose size `value` is, with axes of size 1 added or dropped; none where it is something else.
ValueId sized(const Match& m, ValueId value) {
  for (int depth = 0; depth < 6; ++depth) {
    const NodeId node = m.producer(value);
    if (!node) return {};
    const Node& n = m.node(node);
    if (n.is("Shape")) return m.operand(node, 0);
    if (!n.is("Gather") && !n.is("Slice") && !n.is("Squeeze") && !n.is("Unsqueeze") && !n.is("Reshape")) return {};
    value = m.operand(node, 0);
  }
  return {};
}

struct JoinedShape {
  ValueId joined;
  int64_t axis;
};

/// A Concat of x, made before the root, that has an axis of the size `sum`.
std::optional<JoinedShape> joined_size(const Match& m, ValueId x, Dim sum) {
  for (const ir::Use& use : m.value(x).uses) {
    if (!use.node || !m.node(use.node).is("Concat") || !m.graph().is_before(use.node, m.root())) continue;
    const ValueId joined = m.result(use.node);
    const auto axis = m.axis(use.node, "axis", 0, joined);
    if (axis && (*m.shape(joined))[*axis].known_equal(sum)) return JoinedShape{joined, *axis};
  }
  return std::nullopt;
}

bool sum_of_sizes(Match& m) {
  const auto& data = m.value(m.result(m.root())).data;
  const auto rank = m.rank(m.result(m.root()));
  if (!data || data->size() != 1 || (*data)[0].is_number() || m.dtype(m.result(m.root())) != DType::i64 || !rank || *rank > 1) return false;
  const ValueId a = sized(m, m.operand(m.root(), 0)), b = sized(m, m.operand(m.root(), 1));
  if (!a || !b) return false;
  for (ValueId x : {a, b})
    if (const auto found = joined_size(m, x, (*data)[0])) { return m.accept(*found); }
  return m.refuse("no Concat before it has this size");
}

bool read_size(const Match& m, Rewriter& w) {
  const JoinedShape& found = m.state<JoinedShape>();
  ValueId size = w("Shape", {found.joined}, {{"start", found.axis}, {"end", found.axis + 1}});
  if (m.rank(m.result(m.root())) == 0) size = w("Squeeze", {size, w.ints({0})});
  return replace_root(m, w, size);
}

struct Shift {
  NodeId range;
  ValueId by;
};

/// The one element of an integer operand as a size; nullopt where it is not known, or too large a number for one.
std::optional<Dim> element(const Match& m, NodeId node, size_t slot) {
  const auto data = m.graph().view(node).dims(slot);
  const auto number = m.number(m.operand(node, slot));
  if (!data || data->size() != 1 || (number && std::abs(*number) > 0x1p52)) return std::nullopt;
  return (*data)[0];
}

/// a + b stays well within the dtype, and is exact in fp64, for all values of the symbols.
bool stays_small(std::optional<Dim> a, std::optional<Dim> b, DType dtype) {
  if (!a || !b) return false;
  const Dim sum = *a + *b;
  const int64_t limit = int64_t{1} << (dtype == DType::i64 ? 52 : 30);
  return !sum.is_overflow() && sum.lower() >= -limit && sum.upper() <= limit;
}

/// Range(start, limit, delta) + c
bool shifted_range(Match& m) {
  const DType dtype = m.dtype(m.result(m.root()));
  if (dtype != DType::i64 && dtype != DType::i32) return false;
  for (size_t slot : {0, 1}) {
    const NodeId range = m.producer(m.operand(m.root(), slot), "Range");
    const ValueId by = m.operand(m.root(), 1 - slot);
    const DimList* shape = m.shape(by);
    if (!range || !shape || shape->size() > 1 || m.rank(m.operand(range, 0)) != 0) continue;
    const auto more = element(m, m.root(), 1 - slot);
    for (size_t bound : {0, 1})
      if (!stays_small(element(m, range, bound), more, dtype)) return m.refuse("the sums may wrap around");
    m.take(range);
    return m.accept(Shift{range, by});
  }
  return false;
}

bool shift_bounds(const Match& m, Rewriter& w) {
  const Shift& found = m.state<Shift>();
  const ValueId by = m.rank(found.by) == 0 ? found.by : w("Squeeze", {found.by, w.ints({0})});
  const auto shifted = [&](size_t slot) {
    const ValueId bound = m.operand(found.range, slot);
    const auto number = m.number(bound), more = m.number(found.by);
    if (number == 0) return by;
    return number && more ? w.scalar(m.dtype(bound), *number + *more) : w("Add", {bound, by});
  };
  const ValueId start = shifted(0), limit = shifted(1);
  return replace_root(m, w, w.clone_with_operands(found.range, {start, limit, m.operand(found.range, 2)})[0]);
}

}  // namespace

RULES(clean_shape_sums) {
    .sets = "default",
    .rules =
        {
            {.name = "sum_of_sizes",
             .docs = "the sum of two sizes, where a Concat before has that size: read from there",
             .roots = "Add",
             .match = sum_of_sizes,
             .rewrite = read_size,
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "ShapeBasedShapeShapeAdd"},
            {.name = "range_shift",
             .docs = "Range(a, b, d) + c is Range(a + c, b + c, d) for integers that cannot wrap around",
             .roots = "Add",
             .match = shifted_range,
             .rewrite = shift_bounds,
             .benefit = 3,
             .covered_patterns = "SwapRangeAddScalar"},
        },
};

}  // namespace tenon::rules::clean_shape_sums
