// SPDX-License-Identifier: Apache-2.0
// Activations as ONNX Runtime's own ops. The CPU build has kernels for f32, and by casts for f16 (dtypes 1 and 10).
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_gelu {
using namespace rewrite;
namespace {

bool is_short(const Match& m, ValueId value) { return m.dtype(value) == DType::f32 || m.dtype(value) == DType::f16; }

/// left * Gelu(right) of the halves of x + bias.
struct BiasedHalves {
  ValueId x, bias;
};

bool split_gelu(Match& m) {
  for (size_t side : {0, 1}) {
    m.nodes = {m.root()};
    const NodeId gelu = m.take(m.operand(m.root(), side), "Gelu");
    if (!gelu || m.node(gelu).attributes.text("approximate", "none") != "none") continue;
    const ValueId left = m.operand(m.root(), 1 - side), right = m.operand(gelu, 0);
    const NodeId split = m.take(left, "Split");
    if (!split || m.producer(right) != split || m.node(split).outputs.size() != 2) continue;
    if (m.result(split, 0) != left || m.result(split, 1) != right || !m.same_shape(left, right)) continue;
    const NodeId add = m.take(m.operand(split, 0), "Add");
    const auto axis = m.axis(split, "axis", 0, m.operand(split, 0));
    for (size_t k : {0, 1}) {
      const ValueId x = add ? m.operand(add, k) : ValueId{}, bias = add ? m.operand(add, 1 - k) : ValueId{};
      if (add && m.rank(x) == 3 && axis == 2 && m.rank(bias) == 1 && m.same_type(x, m.result(add)) && is_short(m, x))
        return m.accept(BiasedHalves{x, bias});
    }
  }
  return false;
}

bool to_split_gelu(const Match& m, Rewriter& w) {
  const BiasedHalves& found = m.state<BiasedHalves>();
  return replace_root(m, w, w("com.microsoft::BiasSplitGelu", {found.x, found.bias}));
}

/// The summand that is broadcast, and how: along leading axes (outer) or along axes between (inner).
struct Biased {
  ValueId data, bias;
  int64_t inner = 0;
};

std::optional<int64_t> broadcast_kind(const DimList& data, const DimList& bias) {
  if (data.size() != bias.size() || data.size() < 2) return std::nullopt;
  const auto same = [&](size_t k) { return bias[k].known_equal(data[k]); };
  size_t ones = 0;
  while (ones < bias.size() && bias[ones].known_equal(1)) ++ones;
  bool outer = ones > 0 && ones + 1 < bias.size();
  for (size_t k = ones; k < bias.size(); ++k) outer = outer && same(k);
  if (outer) return 0;
  size_t equal = 0;
  while (equal < bias.size() && same(equal)) ++equal;
  bool inner = equal > 0 && equal + 1 < bias.size() && same(bias.size() - 1);
  for (size_t k = equal; k + 1 < bias.size(); ++k) inner = inner && bias[k].known_equal(1);
  return inner ? std::optional(int64_t{1}) : std::nullopt;
}

bool bias_softmax(Match& m) {
  const NodeId add = m.take(m.operand(m.root(), 0), "Add");
  const auto axis = m.axis(m.root(), "axis", -1, m.operand(m.root(), 0));
  if (!add || !axis || *axis != *m.rank(m.operand(m.root(), 0)) - 1) return false;
  for (size_t k : {0, 1}) {
    const ValueId data = m.operand(add, k), bias = m.operand(add, 1 - k);
    if (!m.same_type(data, m.result(add)) || !m.shape(data) || !m.shape(bias) || !is_short(m, data)) continue;
    const auto inner = broadcast_kind(*m.shape(data), *m.shape(bias));
    if (!inner) continue;
    return m.accept(Biased{data, bias, *inner});
  }
  return false;
}

bool to_bias_softmax(const Match& m, Rewriter& w) {
  const Biased& found = m.state<Biased>();
  return replace_root(m, w,
                      w("com.microsoft::BiasSoftmax", {found.data, found.bias},
                        {{"axis", int64_t{*m.rank(found.data)} - 1}, {"is_inner_broadcast", found.inner}}));
}

}  // namespace

RULES(onnxruntime_gelu) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "bias_gelu",
             .docs = "Gelu of a sum with one number a column: BiasGelu",
             .equation = "(Gelu(Add(?x, ?b), approximate=\"none\") | com.microsoft::Gelu(Add(?x, ?b))) => com.microsoft::BiasGelu(?x, ?b)"
                         " where dtype(?x) == f32 or dtype(?x) == f16, suffix(?b, ?x), rank(?x) > 1",
             .benefit = 5,
             .covered_patterns = "BiasGelu"},
            {.name = "fast_gelu_bias",
             .docs = "the same for the form with tanh: FastGelu takes the bias",
             .equation =
                 "(Gelu(Add(?x, ?b), approximate=\"tanh\") | com.microsoft::FastGelu(Add(?x, ?b))) => com.microsoft::FastGelu(?x, ?b)"
                 " where dtype(?x) == f32 or dtype(?x) == f16, suffix(?b, ?x), rank(?x) > 1",
             .benefit = 5,
             .covered_patterns = "FastGelu"},
            {.name = "ort_gelu_tanh",
             .docs = "Gelu with tanh is FastGelu, which models of every opset may have",
             .equation = "Gelu(?x, approximate=\"tanh\") => com.microsoft::FastGelu(?x) where dtype(?x) == f32 or dtype(?x) == f16",
             .benefit = 2,
             .covered_patterns = "GeluOrt"},
            {.name = "ort_gelu_erf",
             .docs = "Gelu of ONNX Runtime's domain, which models of every opset may have",
             .equation = "Gelu(?x, approximate=\"none\") => com.microsoft::Gelu(?x) where dtype(?x) == f32 or dtype(?x) == f16",
             .benefit = 2,
             .covered_patterns = "GeluErf"},
            {.name = "fast_gelu",
             .docs = "tanh for erf: off by up to 4e-4, so only where approximate rules are requested",
             .equation = "com.microsoft::Gelu(?x) => com.microsoft::FastGelu(?x) where dtype(?x) == f32 or dtype(?x) == f16",
             .numerics = Numerics::approximate,
             .benefit = 2,
             .covered_patterns = "FastGelu"},
            {.name = "quick_gelu",
             .docs = "x * sigmoid(a * x)",
             .equation = "Swish(?x, alpha=?a) => com.microsoft::QuickGelu(?x, alpha=?a) where dtype(?x) == f32 or dtype(?x) == f16",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "QuickGelu"},
            {.name = "quick_gelu_factor",
             .docs = "the same with the factor in plain sight",
             .equation =
                 "Mul(?x, Sigmoid(Mul(?x, ?a))) => com.microsoft::QuickGelu(?x, alpha=value(?a)) where dtype(?x) == f32 or dtype(?x) == f16, finite(?a),"
                 " rank(?a) <= rank(?x), size(?a) == 1",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "QuickGelu"},
            {.name = "quick_gelu_plain",
             .docs = "x * sigmoid(x)",
             .equation = "Mul(?x, Sigmoid(?x)) => com.microsoft::QuickGelu(?x, alpha=1.0) where dtype(?x) == f32 or dtype(?x) == f16",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "QuickGelu"},
            {.name = "bias_split_gelu",
             .docs = "left * Gelu(right) of the halves of x + bias; the CPU build has no kernel",
             .roots = "Mul",
             .match = split_gelu,
             .rewrite = to_split_gelu,
             .benefit = 6,
             .sets = "onnxruntime_cuda",
             .covered_patterns = "BiasSplitGelu"},
            {.name = "bias_softmax",
             .docs = "Softmax of a sum whose second part is broadcast along leading or middle axes; the CPU build has no kernel",
             .roots = "Softmax",
             .match = bias_softmax,
             .rewrite = to_bias_softmax,
             .benefit = 3,
             .sets = "onnxruntime_cuda",
             .covered_patterns = "BiasSoftmax"},
        },
};

}  // namespace tenon::rules::onnxruntime_gelu
