// SPDX-License-Identifier: Apache-2.0
// Sizes read directly from their source: Shape of x with start and end. Exact: a size of a Transpose or an Unsqueeze of x is a size
// of x, or 1.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::clean_shape_values {
using namespace rewrite;
namespace {

/// The sizes [begin, end) of x that a Shape node returns.
struct Read {
  ValueId x;
  int64_t begin, end;
};

std::optional<Read> sizes_read(const Match& m, NodeId shape) {
  const ValueId x = m.operand(shape, 0);
  const auto rank = m.rank(x);
  if (!rank) return std::nullopt;
  const auto bound = [&](std::string_view name, int64_t otherwise) {
    const int64_t at = m.node(shape).attributes.integer(name, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + *rank : at, 0, *rank);
  };
  const int64_t begin = bound("start", 0);
  return Read{x, begin, std::max(begin, bound("end", *rank))};
}

ValueId shape_of(Rewriter& w, ValueId x, int64_t begin, int64_t end) { return w("Shape", {x}, {{"start", begin}, {"end", end}}); }

/// i64[n]: the sizes of x at those axes.
ValueId sizes_at(Rewriter& w, ValueId x, const ir::Ints& axes) {
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != axes[i - 1] + 1) return w("Gather", {w("Shape", {x}), w.ints(axes)}, {{"axis", int64_t{0}}});
  return shape_of(w, x, axes.front(), axes.back() + 1);
}

/// Gather(Shape(x), [i, i + 1, ...])
bool run_of_sizes(Match& m) {
  const NodeId shape = m.producer(m.operand(m.root(), 0), "Shape");
  const ValueId indices = m.operand(m.root(), 1);
  const auto read = shape ? sizes_read(m, shape) : std::nullopt;
  auto wanted = read && m.rank(indices) == 1 ? m.ints(indices) : std::nullopt;
  if (!wanted || wanted->empty()) return false;
  const int64_t count = read->end - read->begin;
  for (size_t i = 0; i < wanted->size(); ++i) {
    int64_t& at = (*wanted)[i];
    at += at < 0 ? count : 0;
    if (at < 0 || at >= count || (i > 0 && at != (*wanted)[i - 1] + 1)) return false;
  }
  return m.accept(Read{read->x, read->begin + wanted->front(), read->begin + wanted->back() + 1});
}

bool read_run(const Match& m, Rewriter& w) {
  const Read& found = m.state<Read>();
  return replace_root(m, w, shape_of(w, found.x, found.begin, found.end));
}

struct PermutedSizes {
  ValueId x;
  ir::Ints axes;  ///< of x, one a size; -1: the size is 1
};

bool of_transposed(Match& m) {
  const NodeId transpose = m.producer(m.operand(m.root(), 0), "Transpose");
  const auto read = transpose ? sizes_read(m, m.root()) : std::nullopt;
  const auto perm = read && read->begin < read->end ? permutation(m, transpose) : std::nullopt;
  if (!perm || static_cast<int64_t>(perm->size()) < read->end) return false;
  return m.accept(PermutedSizes{m.operand(transpose, 0), {perm->begin() + read->begin, perm->begin() + read->end}});
}

bool read_before(const Match& m, Rewriter& w) {
  return replace_root(m, w, sizes_at(w, m.state<PermutedSizes>().x, m.state<PermutedSizes>().axes));
}

bool of_unsqueezed(Match& m) {
  const NodeId unsqueeze = m.producer(m.operand(m.root(), 0), "Unsqueeze");
  const auto read = unsqueeze ? sizes_read(m, m.root()) : std::nullopt;
  auto added = read && read->begin < read->end ? m.ints(unsqueeze, "axes", 1) : std::nullopt;
  if (!added || !m.rank(m.operand(unsqueeze, 0))) return false;
  const int rank = *m.rank(m.operand(m.root(), 0));
  for (int64_t& a : *added) a += a < 0 ? rank : 0;
  PermutedSizes found{m.operand(unsqueeze, 0), {}};
  int64_t source = 0;
  for (int64_t axis = 0; axis < read->end; ++axis) {
    const int64_t at = std::ranges::count(*added, axis) ? -1 : source++;
    if (axis >= read->begin) found.axes.push_back(at);
  }
  return m.accept(std::move(found));
}

/// Runs of sizes of x, and ones between them.
bool join_runs(const Match& m, Rewriter& w) {
  const PermutedSizes& found = m.state<PermutedSizes>();
  std::vector<ValueId> parts;
  for (size_t i = 0; i < found.axes.size();) {
    size_t end = i + 1;
    while (end < found.axes.size() && (found.axes[end] < 0) == (found.axes[i] < 0)) ++end;
    const int64_t first = found.axes[i], count = static_cast<int64_t>(end - i);
    parts.push_back(first < 0 ? w.ints(std::vector<int64_t>(end - i, 1)) : shape_of(w, found.x, first, first + count));
    i = end;
  }
  return replace_root(m, w, parts.size() == 1 ? parts[0] : w("Concat", parts, {{"axis", int64_t{0}}}));
}

}  // namespace

RULES(clean_shape_values) {
    .sets = "default",
    .rules =
        {
            {.name = "gather_shape",
             .docs = "Gather of neighbouring sizes from a Shape is a Shape with start and end",
             .roots = "Gather",
             .match = run_of_sizes,
             .rewrite = read_run,
             .benefit = 5,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "GatherShape"},
            {.name = "shape_transpose",
             .docs = "Shape of a Transpose is the Shape of its operand in another order",
             .roots = "Shape",
             .match = of_transposed,
             .rewrite = read_before,
             .benefit = 4,
             .allow_outside_uses = true,
             .sets = "default canonical",
             .covered_patterns = "ShapeTranspose"},
            {.name = "unsqueeze_shape",
             .docs = "Shape of an Unsqueeze is the sizes of its operand with ones between",
             .roots = "Shape",
             .match = of_unsqueezed,
             .rewrite = join_runs,
             .benefit = 4,
             .allow_outside_uses = true,
             .sets = "default canonical",
             .covered_patterns = "UnsqueezeShape"},
        },
};

}  // namespace tenon::rules::clean_shape_values
