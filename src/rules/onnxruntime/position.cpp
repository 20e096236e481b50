// SPDX-License-Identifier: Apache-2.0
// Biases by distance: T5's table of buckets, and the gated bias of WavLM. The CPU build of ONNX Runtime has no kernel for either op.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_position {
using namespace rewrite;
namespace {

/// The operand of a commutative node that is not the number in the other; the number goes to `number`.
ValueId operand_not_number(Match& m, ValueId value, std::string_view op, double& number) {
  const NodeId node = m.take(value, op);
  for (size_t k : {0, 1}) {
    const auto found = node && m.is_constant(m.operand(node, k)) ? m.number(m.operand(node, k)) : std::nullopt;
    if (!found) continue;
    number = *found;
    return m.operand(node, 1 - k);
  }
  return {};
}

ValueId through(Match& m, ValueId value, std::string_view op) {
  const NodeId node = m.take(value, op);
  return node ? m.operand(node, 0) : ValueId{};
}

struct Buckets {
  ValueId table, queries, keys;
  bool both_ways = false;
  int64_t farthest = 0;
};

/// The end of a Range from 0 in steps of 1, which Unsqueeze gives another axis `axis`.
ValueId count_along(Match& m, ValueId line, int64_t axis) {
  const NodeId wide = m.take(line, "Unsqueeze");
  if (!wide || m.ints(m.operand(wide, 1)) != ir::Ints{axis}) return {};
  const NodeId range = m.producer(m.operand(wide, 0), "Range");
  return range && m.is_number(m.operand(range, 0), 0) && m.is_number(m.operand(range, 2), 1) ? m.operand(range, 1) : ValueId{};
}

/// min(cast(log(cast(far) * 1 / exact) * step) + exact, last) of the distance `far`.
bool shared_buckets(Match& m, ValueId large, ValueId far, int64_t exact, int64_t buckets, int64_t& farthest) {
  double last = 0, added = 0, step = 0, part = 0;
  const ValueId above = operand_not_number(m, operand_not_number(m, large, "Min", last), "Add", added);
  const ValueId ratio = through(m, operand_not_number(m, through(m, above, "Cast"), "Mul", step), "Log");
  const ValueId wide = operand_not_number(m, ratio, "Mul", part);
  if (!wide || through(m, wide, "Cast") != far || step <= 0 || m.dtype(ratio) != DType::f32) return false;
  const auto e = static_cast<double>(exact);
  if (added != e || last != static_cast<double>(buckets - 1) || std::abs(part * e - 1) > 1e-6) return false;
  const double found = e * std::exp(static_cast<double>(buckets - exact) / step);
  farthest = std::llround(found);
  return std::abs(found - static_cast<double>(farthest)) < 1e-3 * found;
}

/// Where(far < exact, far, large), both ways or with 0 for keys after the query.
bool buckets_of(Match& m, ValueId value, int64_t buckets, ValueId distance, Buckets& found) {
  const NodeId where = m.take(value, "Where");
  const NodeId less = where ? m.take(m.operand(where, 0), "Less") : NodeId{};
  const ValueId far = where ? m.operand(where, 1) : ValueId{};
  const int64_t exact = buckets / 2;
  if (!less || m.operand(less, 0) != far || !m.is_number(m.operand(less, 1), static_cast<double>(exact))) return false;
  if (found.both_ways && through(m, far, "Abs") != distance) return false;
  return shared_buckets(m, m.operand(where, 2), far, exact, buckets, found.farthest);
}

bool relative_position(Match& m) {
  if (m.ints(m.operand(m.root(), 1)) != ir::Ints{0}) return false;
  const NodeId transpose = m.take(m.operand(m.root(), 0), "Transpose");
  const NodeId gather =
      transpose && m.node(transpose).attributes.ints("perm") == ir::Ints{2, 0, 1} ? m.take(m.operand(transpose, 0), "Gather") : NodeId{};
  const DimList* table = gather ? m.shape(m.operand(gather, 0)) : nullptr;
  if (!table || table->size() != 2 || !(*table)[0].is_number() || !(*table)[1].is_number() || (*table)[0].value() % 2 != 0) return false;
  Buckets found{m.operand(gather, 0), {}, {}, true, 0};
  const NodeId sum = m.take(m.operand(gather, 1), "Add");
  for (size_t k : {0, 1}) {
    double side = 0;
    const ValueId scaled = sum ? through(m, operand_not_number(m, m.operand(sum, k), "Mul", side), "Cast") : ValueId{};
    const NodeId greater = scaled ? m.take(scaled, "Greater") : NodeId{};
    const int64_t half = (*table)[0].value() / 2;
    if (!greater || !m.is_number(m.operand(greater, 1), 0) || side != static_cast<double>(half)) continue;
    const ValueId distance = m.operand(greater, 0);
    const NodeId sub = m.take(distance, "Sub");
    if (!sub || !buckets_of(m, m.operand(sum, 1 - k), half, distance, found)) continue;
    found.keys = count_along(m, m.operand(sub, 0), 0);
    found.queries = count_along(m, m.operand(sub, 1), 1);
    m.accept(found);
    return found.keys && found.queries;
  }
  return m.refuse("no buckets by distance both ways");
}

/// The op needs its table column by column in the shape of one row by row.
bool to_relative_position(const Match& m, Rewriter& w) {
  const Buckets& found = m.state<Buckets>();
  const DimList& shape = *m.shape(found.table);
  const ValueId transposed = w("Transpose", {found.table}, {{"perm", ir::Ints{1, 0}}});
  const ValueId table = w("Reshape", {transposed, w.ints({shape[0].value(), shape[1].value()})});
  const auto length = [&](ValueId x) { return w("Reshape", {x, w.ints({1})}); };
  return replace_root(m, w,
                      w("com.microsoft::RelativePositionBias", {table, length(found.queries), length(found.keys)},
                        {{"is_bidirectional", int64_t{found.both_ways}}, {"max_distance", found.farthest}}));
}

struct Gated {
  ValueId query, query_bias, bias, weights, weights_bias, eco;
  int64_t heads = 0;
};

/// query + bias, whose heads a reshape and a transpose set apart, times weights plus bias, in two sums.
bool gate_sums(Match& m, ValueId sums, Gated& found) {
  const NodeId sum = m.take(sums, "ReduceSum");
  if (!sum || m.node(sum).attributes.integer("keepdims", 1) != 0 || m.ints(m.operand(sum, 1)) != ir::Ints{-1}) return false;
  const NodeId parts = m.take(m.operand(sum, 0), "Reshape"), add = parts ? m.take(m.operand(parts, 0), "Add") : NodeId{};
  const DimList* split = parts ? m.shape(m.result(parts)) : nullptr;
  const NodeId product = add ? m.take(m.operand(add, 0), "MatMul") : NodeId{};
  const NodeId transpose = product ? m.take(m.operand(product, 0), "Transpose") : NodeId{};
  if (!transpose || m.node(transpose).attributes.ints("perm") != ir::Ints{0, 2, 1, 3} || !split || split->size() != 5 ||
      !(*split)[3].known_equal(2))
    return false;
  const NodeId reshape = m.take(m.operand(transpose, 0), "Reshape"), first = reshape ? m.take(m.operand(reshape, 0), "Add") : NodeId{};
  const DimList* heads = reshape ? m.shape(m.result(reshape)) : nullptr;
  if (!first || !heads || heads->size() != 4 || !(*heads)[2].is_number() || m.rank(m.operand(first, 0)) != 3) return false;
  found.query = m.operand(first, 0);
  found.query_bias = m.operand(first, 1);
  found.weights = m.operand(product, 1);
  found.weights_bias = m.operand(add, 1);
  found.heads = (*heads)[2].value();
  return m.rank(found.query_bias) == 1 && m.rank(found.weights) == 2 && m.rank(found.weights_bias) == 1;
}

/// u * (v * eco - 1) + 2 of the halves u and v of the gates.
bool gates(Match& m, ValueId value, Gated& found) {
  double two = 0;
  const NodeId outer = m.take(operand_not_number(m, value, "Add", two), "Mul");
  for (size_t k : {0, 1}) {
    const NodeId sub = outer && two == 2 ? m.take(m.operand(outer, k), "Sub") : NodeId{};
    const NodeId inner = sub && m.is_number(m.operand(sub, 1), 1) ? m.take(m.operand(sub, 0), "Mul") : NodeId{};
    const NodeId split = inner ? m.take(m.operand(outer, 1 - k), "Split") : NodeId{};
    if (!split || m.node(split).outputs.size() != 2 || m.operand(outer, 1 - k) != m.result(split, 0)) continue;
    for (size_t side : {0, 1})
      if (m.operand(inner, side) == m.result(split, 1)) found.eco = m.operand(inner, 1 - side);
    const DimList* eco = m.shape(found.eco);
    if (!eco || eco->size() != 4 || m.axis(split, "axis", 0, m.operand(split, 0)) != 3) continue;
    return gate_sums(m, through(m, m.operand(split, 0), "Sigmoid"), found) && (*eco)[1].known_equal(found.heads);
  }
  return false;
}

bool gated_position(Match& m) {
  for (size_t k : {0, 1}) {
    Gated found;
    m.nodes = {m.root()};
    found.bias = m.operand(m.root(), 1 - k);
    if (!m.producer(m.operand(m.root(), k), "Add") || !gates(m, m.operand(m.root(), k), found)) continue;
    const DimList* bias = m.shape(found.bias);
    if (!bias || bias->size() != 4 || !(*bias)[0].known_equal(1) || !(*bias)[1].known_equal(found.heads)) continue;
    return m.accept(found);
  }
  return false;
}

bool to_gated_position(const Match& m, Rewriter& w) {
  const Gated& g = m.state<Gated>();
  return replace_root(m, w,
                      w("com.microsoft::GatedRelativePositionBias", {g.query, g.query_bias, g.bias, g.weights, g.weights_bias, g.eco},
                        {{"num_heads", g.heads}}));
}

}  // namespace

RULES(onnxruntime_position) {
    .sets = "onnxruntime_cuda",
    .rules =
        {
            {.name = "relative_position",
             .docs = "T5's bias by distance both ways: small distances have a bucket each, larger ones share by their logarithm",
             .roots = "Unsqueeze",
             .match = relative_position,
             .rewrite = to_relative_position,
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .allow_outside_uses = true,
             .covered_patterns = "RelativePositionBias"},
            {.name = "gated_position",
             .docs = "a bias by distance, gated by each query",
             .roots = "Mul",
             .match = gated_position,
             .rewrite = to_gated_position,
             .benefit = 6,
             .covered_patterns = "GatedRelativePositionBias"},
        },
};

}  // namespace tenon::rules::onnxruntime_position
