// SPDX-License-Identifier: Apache-2.0
// Norms with the sum before them in one op, and the sum itself as a further result where others read it.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/norms.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_norm {
using namespace rewrite;
namespace {

struct Skip {
  ValueId x, skip, bias;
  bool kept = false;  ///< the sum has other users
};

/// May be `skip` for rows of `sum`: the same shape, or without a batch of its own.
bool fits_as_skip(const Match& m, ValueId skip, ValueId sum) {
  if (m.same_type(skip, sum)) return true;
  const DimList *small = m.shape(skip), *large = m.shape(sum);
  if (!small || !large || m.dtype(skip) != m.dtype(sum) || large->size() != 3 || small->size() < 2) return false;
  const bool one = small->size() == 3 && (*small)[0].known_equal(1);
  return (small->size() == 2 || one) && small->back().known_equal(large->back()) && (*small)[small->size() - 2].known_equal((*large)[1]);
}

/// A row that is added to `sum`'s other operand, where the sum is read here alone.
bool take_bias(Match& m, Skip& found) {
  const NodeId add = m.producer(found.x, "Add");
  if (!add || m.use_count(found.x) != 1) return false;
  for (size_t k : {0, 1}) {
    const ValueId bias = m.operand(add, k), x = m.operand(add, 1 - k);
    if (m.rank(bias) != 1 || !m.same_type(x, found.x) || !m.shape(bias)->front().known_equal(m.shape(x)->back())) continue;
    m.take(add);
    found.x = x;
    found.bias = bias;
    return true;
  }
  return false;
}

bool is_row(const Match& m, ValueId value, ValueId of) {
  return !value || (m.rank(value) == 1 && m.dtype(value) == m.dtype(of) && m.shape(value)->front().known_equal(m.shape(of)->back()));
}

/// The root normalises rows of f32 or f16 by scale and bias, and its first result alone is read.
bool norm_of_rows(Match& m) {
  const ValueId x = m.operand(m.root(), 0);
  const auto rank = m.rank(x);
  const auto axis = m.axis(m.root(), "axis", -1, x);
  if (!rank || (*rank != 2 && *rank != 3) || axis != *rank - 1 || (m.dtype(x) != DType::f32 && m.dtype(x) != DType::f16)) return false;
  if (m.node(m.root()).attributes.integer("stash_type", 1) != 1) return false;
  for (ValueId other : m.node(m.root()).outputs)
    if (other != m.result(m.root()) && other && m.use_count(other) > 0) return m.refuse("mean or deviation is read");
  if (!is_row(m, m.operand(m.root(), 1), x) || !is_row(m, m.operand(m.root(), 2), x)) return m.refuse("scale and bias are no rows");
  return true;
}

/// The norm without a mean and without a scale.
bool written_out(Match& m) {
  const auto found = match_unscaled_norm(m);
  if (!found || found->centred || m.dtype(found->x) != DType::f32) return false;
  if (found->inverse) m.other_roots.push_back(m.producer(found->inverse));
  return m.accept(*found);
}

bool to_simplified(const Match& m, Rewriter& w) {
  const UnscaledNorm& found = m.state<UnscaledNorm>();
  const bool kept = found.inverse && m.use_count(found.inverse) > 1;
  const auto results = w.many("SimplifiedLayerNormalization", {found.x, unit_scale(m, w, found)}, kept ? 2 : 1,
                              {{"axis", found.axis - *m.rank(found.x)}, {"epsilon", static_cast<float>(found.epsilon)}});
  if (kept && results.size() > 1) w.replace(found.inverse, results[1]);
  return replace_root(m, w, results.empty() ? ValueId{} : results[0]);
}

bool skip_norm(Match& m) {
  if (!norm_of_rows(m)) return false;
  const ValueId sum = m.operand(m.root(), 0);
  const NodeId add = m.producer(sum, "Add");
  for (size_t k : {0, 1}) {
    const ValueId x = add ? m.operand(add, k) : ValueId{}, skip = add ? m.operand(add, 1 - k) : ValueId{};
    if (!add || !m.same_type(x, sum) || !fits_as_skip(m, skip, sum)) continue;
    Skip found{x, skip, {}, m.use_count(sum) > 1};
    m.take(add);
    if (found.kept) m.other_roots.push_back(add);
    if (!take_bias(m, found) && m.same_type(skip, sum)) {
      std::swap(found.x, found.skip);
      if (!take_bias(m, found)) std::swap(found.x, found.skip);
    }
    return m.accept(found);
  }
  return false;
}

bool to_skip_norm(const Match& m, Rewriter& w) {
  const Skip& found = m.state<Skip>();
  const Node& norm = m.node(m.root());
  const bool centred = norm.is("LayerNormalization");
  std::vector<ValueId> inputs{found.x, found.skip, norm.inputs[1]};
  if (centred) inputs.push_back(m.operand(m.root(), 2));
  inputs.push_back(found.bias);
  while (!inputs.back()) inputs.pop_back();
  const auto results = w.many(centred ? "com.microsoft::SkipLayerNormalization" : "com.microsoft::SkipSimplifiedLayerNormalization", inputs,
                              found.kept ? 4 : 1, {{"epsilon", norm.attributes.number("epsilon", 1e-5f)}});
  w.replace(m.result(m.root()), results[0]);
  if (found.kept && results[0]) w.replace(norm.inputs[0], results[3]);
  return true;
}

/// A row of factors after a norm whose scales are all 1; what else the norm gives stays.
bool scaled_norm(Match& m) {
  for (size_t k : {0, 1}) {
    const ValueId y = m.operand(m.root(), k), scale = m.operand(m.root(), 1 - k);
    const NodeId norm = m.producer(y);
    if (!norm || !m.node(norm).is("com.microsoft", "SkipSimplifiedLayerNormalization") || m.result(norm) != y) continue;
    if (!m.is_number(m.operand(norm, 2), 1) || !is_row(m, scale, y) || m.use_count(y) != 1) continue;
    m.take(norm);
    m.other_roots.push_back(norm);
    return m.accept(std::pair(norm, scale));
  }
  return false;
}

bool to_scaled_norm(const Match& m, Rewriter& w) {
  const auto& [id, scale] = m.state<std::pair<NodeId, ValueId>>();
  std::vector<ValueId> inputs = m.node(id).inputs;
  inputs[2] = scale;
  const auto results = w.clone_with_operands(id, inputs);
  w.replace(m.result(m.root()), results[0]);
  if (results.size() > 3 && m.node(id).outputs[3]) w.replace(m.node(id).outputs[3], results[3]);
  return true;
}

}  // namespace

RULES(onnxruntime_norm) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "simplified_layer_norm",
             .docs = "RMSNormalization by the name under which ONNX Runtime has it for models of every opset",
             .equation = "RMSNormalization(?x, ?s, axis=?a, epsilon=?e, stash_type=1) => SimplifiedLayerNormalization(?x, ?s, axis=?a,"
                         " epsilon=?e) where dtype(?x) == f32, rank(?s) == 1",
             .benefit = 2,
             .covered_patterns = "SimplifiedLayerNormalization"},
            {.name = "simplified_layer_norm_bare",
             .docs = "x / sqrt(mean(x^2) + eps) written out, without a scale; others may read the factor",
             .roots = "Div Mul",
             .match = written_out,
             .rewrite = to_simplified,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "SimplifiedLayerNormalization"},
            {.name = "simplified_layer_norm_scale",
             .docs = "the scale after a norm whose scales are 1",
             .equation = "Mul(SimplifiedLayerNormalization(?x, 1, axis=-1, epsilon=?e, stash_type=1), ?s)"
                         " => SimplifiedLayerNormalization(?x, ?s, axis=-1, epsilon=?e) where suffix(?s, ?x), same_dtype(?x, ?s)",
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .covered_patterns = "SimplifiedLayerNormalizationMul"},
            {.name = "skip_simplified_scale",
             .docs = "the same after the norm of a sum",
             .roots = "Mul",
             .match = scaled_norm,
             .rewrite = to_scaled_norm,
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .covered_patterns = "SkipSimplifiedLayerNormalizationMul"},
            {.name = "skip_layer_norm",
             .docs = "the sum before a LayerNormalization, with a row that is added to one of its parts",
             .roots = "LayerNormalization",
             .match = skip_norm,
             .rewrite = to_skip_norm,
             .numerics = Numerics::reassociating,
             .benefit = 4,
             .covered_patterns = "SkipLayerNormalization"},
            {.name = "skip_simplified_layer_norm",
             .docs = "the same before a norm without a mean",
             .roots = "RMSNormalization SimplifiedLayerNormalization",
             .match = skip_norm,
             .rewrite = to_skip_norm,
             .numerics = Numerics::reassociating,
             .benefit = 4,
             .covered_patterns = "SkipSimplifiedLayerNormalization"},
        },
};

}  // namespace tenon::rules::onnxruntime_norm
