// SPDX-License-Identifier: Apache-2.0
// One position of attention without a softmax: a state that sums outer products of keys and values, and queries that read it.
//   state = past + key value^T,  or  exp(decay) past + key value^T;  y = scale * query state
// LinearAttention of ONNX Runtime is that for operands whose heads are side by side. At one position, views that keep the order of the
// elements are all that lies between the two.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::onnxruntime_linear_attention {
using namespace rewrite;
namespace {

constexpr int kMostViews = 8;

struct Step {
  Dim batch;
  int64_t heads, size, value_size;  ///< the state is [batch, heads, size, value_size]
  int64_t query_heads;              ///< a multiple of heads
  ValueId query, key, value, past;  ///< all but `past`: [batch, 1, heads * size], or with heads and size apart
  ValueId decay;                    ///< [batch, 1, heads * size], or one number a head
  ValueId state, result;            ///< what the op replaces
  double scale = 1;
};

bool is(const DimList* shape, const DimList& wanted) { return shape && std::ranges::equal(*shape, wanted, &Dim::known_equal); }

/// Whether the node keeps the elements in their order (Reshape and similar).
bool is_view(const GraphQuery& m, NodeId node) {
  return node && (is_reshape(m.node(node)) || (m.node(node).is("Transpose") && moves_only_unit_axes(m, node)));
}

/// The value below views that has one position and its heads side by side, or at least apart after the position; none where no such is.
ValueId one_position(const GraphQuery& m, ValueId value, Dim batch, int64_t heads, int64_t size) {
  ValueId apart;
  for (int depth = 0; depth <= kMostViews; ++depth) {
    if (is(m.shape(value), {batch, 1, heads * size})) return value;
    if (is(m.shape(value), {batch, 1, heads, size})) apart = value;
    const NodeId node = m.producer(value);
    if (!is_view(m, node)) break;
    value = m.operand(node, 0);
  }
  return apart;
}

/// key [.., size, 1] times value [.., 1, value size], broadcast or as matrices.
bool outer_product(Match& m, ValueId product, Step& found) {
  const NodeId mul = m.producer(product, "Mul"), node = mul ? mul : m.producer(product, "MatMul");
  for (size_t column : {0, 1}) {
    if (!node || (!mul && column == 1)) return false;
    const ValueId key = m.operand(node, column), value = m.operand(node, 1 - column);
    if (!is(m.shape(key), {found.batch, found.heads, found.size, 1})) continue;
    if (!is(m.shape(value), {found.batch, found.heads, 1, found.value_size})) continue;
    found.key = one_position(m, key, found.batch, found.heads, found.size);
    found.value = one_position(m, value, found.batch, found.heads, found.value_size);
    if (!found.key || !found.value) return m.refuse("keys or values that are not of one position");
    m.take(node);
    return true;
  }
  return false;
}

/// The logarithm of a factor of the past: one number a row, or one a head.
ValueId decay_of(const Match& m, ValueId factor, const Step& found) {
  const bool rows = is(m.shape(factor), {found.batch, found.heads, found.size, 1});
  if (!rows && !is(m.shape(factor), {found.batch, found.heads, 1, 1})) return {};
  for (int depth = 0; depth <= kMostViews; ++depth) {
    if (const NodeId exp = m.producer(factor, "Exp"))
      return one_position(m, m.operand(exp, 0), found.batch, found.heads, rows ? found.size : 1);
    const NodeId node = m.producer(factor);
    if (!is_view(m, node)) return {};
    factor = m.operand(node, 0);
  }
  return {};
}

/// Matches the addend of the outer product: the past, or the past times a decay.
bool past_of(Match& m, ValueId value, Step& found) {
  const NodeId mul = m.producer(value, "Mul");
  for (size_t k : {0, 1}) {
    const ValueId decay = mul ? decay_of(m, m.operand(mul, k), found) : ValueId{};
    if (!decay || !m.same_type(m.operand(mul, 1 - k), found.state)) continue;
    found.decay = decay;
    found.past = m.operand(mul, 1 - k);
    m.take(mul);
    return true;
  }
  found.past = value;
  return m.same_type(value, found.state);
}

bool new_state(Match& m, Step& found) {
  const NodeId add = m.take(found.state, "Add");
  const DimList* shape = m.shape(found.state);
  if (!add || !shape || shape->size() != 4) return false;
  for (size_t axis : {1, 2, 3})
    if (!(*shape)[axis].is_number()) return m.refuse("sizes that are no numbers");
  found.batch = (*shape)[0];
  found.heads = (*shape)[1].value();
  found.size = (*shape)[2].value();
  found.value_size = (*shape)[3].value();
  m.other_roots.push_back(add);
  for (size_t k : {0, 1})
    if (outer_product(m, m.operand(add, k), found)) return past_of(m, m.operand(add, 1 - k), found);
  return false;
}

/// The node that alone reads the value, as its operand 0 or as one of two factors; `scale` takes the other, where it is a number.
NodeId only_view_or_factor(const Match& m, ValueId value, double& scale) {
  if (m.use_count(value) != 1 || m.value(value).uses[0].is_output()) return {};
  const auto [node, slot] = std::pair(m.value(value).uses[0].node, m.value(value).uses[0].slot);
  if (slot == 0 && is_view(m, node)) return node;
  const bool divides = m.node(node).is("Div");
  if (slot > 1 || (!divides && !m.node(node).is("Mul")) || (divides && slot == 1)) return {};
  const auto number = m.is_constant(m.operand(node, 1 - slot)) ? m.number(m.operand(node, 1 - slot)) : std::nullopt;
  if (!number || *number == 0 || !m.same_type(value, m.result(node))) return {};
  scale *= divides ? 1 / *number : *number;
  return node;
}

/// Follows the result to where heads are side by side again.
void follow_result(Match& m, Step& found) {
  std::vector<NodeId> way;
  double scale = 1;
  ValueId at = m.result(m.root());
  for (int depth = 0; depth <= kMostViews; ++depth) {
    if (is(m.shape(at), {found.batch, 1, found.query_heads * found.value_size})) {
      found.result = at;
      found.scale = scale;
      for (NodeId node : way) m.take(node);
      if (!way.empty()) m.other_roots.push_back(way.back());
      way.clear();
    }
    const NodeId node = only_view_or_factor(m, at, scale);
    if (!node) return;
    way.push_back(node);
    at = m.result(node);
  }
}

bool match_step(Match& m) {
  Step found{};
  found.state = m.operand(m.root(), 1);
  const DType dtype = m.dtype(found.state);
  if ((dtype != DType::f32 && dtype != DType::f16) || !new_state(m, found)) return false;
  const DimList* rows = m.shape(m.operand(m.root(), 0));
  if (!rows || rows->size() != 4 || !(*rows)[0].known_equal(found.batch) || !(*rows)[1].known_equal(found.heads)) return false;
  if (!(*rows)[2].is_number()) return m.refuse("queries of a number that is not known");
  found.query_heads = found.heads * (*rows)[2].value();
  found.query = one_position(m, m.operand(m.root(), 0), found.batch, found.query_heads, found.size);
  if (!found.query) return m.refuse("queries that are not of one position");
  follow_result(m, found);
  return found.result ? m.accept(found) : m.refuse("a result whose heads are not set side by side");
}

bool to_linear_attention(const Match& m, Rewriter& w) {
  const Step& found = m.state<Step>();
  const auto joined = [&](ValueId value) {
    const DimList& shape = *m.shape(value);
    return shape.size() == 3 ? value : w("Reshape", {value, w.ints({0, 1, shape[2].value() * shape[3].value()})});
  };
  std::vector<ValueId> inputs{joined(found.query), joined(found.key), joined(found.value), found.past};
  if (found.decay) inputs.push_back(joined(found.decay));
  const auto results = w.many("com.microsoft::LinearAttention", inputs, 2,
                              {{"q_num_heads", found.query_heads},
                               {"kv_num_heads", found.heads},
                               {"scale", static_cast<float>(found.scale)},
                               {"update_rule", std::string(found.decay ? "gated" : "linear")}});
  w.replace(found.result, results[0]);
  w.replace(found.state, results[1]);
  return true;
}

}  // namespace

RULES(onnxruntime_linear_attention) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "linear_attention_step",
             .docs = "a state that takes in one key and value, and may decay, read by queries: LinearAttention of one position",
             .roots = "MatMul",
             .match = match_step,
             .rewrite = to_linear_attention,
             .numerics = Numerics::reassociating,
             .benefit = 9,
             .covered_patterns = "LinearAttention"},
        },
};

}  // namespace tenon::rules::onnxruntime_linear_attention
