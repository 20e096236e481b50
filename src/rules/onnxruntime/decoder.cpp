// SPDX-License-Identifier: Apache-2.0
// Attention of sequence-first operands, [sequence, batch, width], with its products: DecoderAttention of ONNX Runtime, for which the
// CPU build has no kernel.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_decoder {
using namespace rewrite;
namespace {

struct Mapped {
  ValueId x, weights, bias;
};
struct Decoder {
  Mapped query, rest;            ///< rest: keys, and values where these are not apart
  std::optional<Mapped> values;  ///< of the x of the keys
  int64_t heads = 0;
};
/// [sequence, batch, width] each, of which attention on heads is taken.
struct Sequences {
  ValueId q, k, v;
  int64_t heads = 0;
};

/// x * weights + bias.
std::optional<Mapped> mapped(Match& m, ValueId value) {
  const NodeId add = m.take(value, "Add");
  for (size_t k : {0, 1}) {
    const NodeId product = add ? m.producer(m.operand(add, k), "MatMul") : NodeId{};
    if (!product || m.rank(m.operand(product, 0)) != 3 || m.rank(m.operand(product, 1)) != 2 || m.rank(m.operand(add, 1 - k)) != 1)
      continue;
    m.take(product);
    return Mapped{m.operand(product, 0), m.operand(product, 1), m.operand(add, 1 - k)};
  }
  return std::nullopt;
}

/// [sequence, batch, width], of which `heads` is [batch, heads, sequence, size].
ValueId sequence_first(Match& m, ValueId heads) {
  const NodeId transpose = m.take(heads, "Transpose");
  const NodeId reshape = transpose && m.node(transpose).attributes.ints("perm") == ir::Ints{1, 2, 0, 3}
                             ? m.take(m.operand(transpose, 0), "Reshape")
                             : NodeId{};
  return reshape && m.rank(m.operand(reshape, 0)) == 3 ? m.operand(reshape, 0) : ValueId{};
}

bool is_plain(const Match& m, NodeId attention) {
  const ir::Attributes& a = m.node(attention).attributes;
  const DimList* q = m.shape(m.operand(attention, 0));
  if (!q || q->size() != 4 || !(*q)[1].is_number() || !(*q)[3].is_number() || m.node(attention).outputs.size() != 1) return false;
  for (size_t k = 3; k < m.node(attention).explicit_inputs; ++k)
    if (m.operand(attention, k)) return false;
  const double usual = 1 / std::sqrt(static_cast<double>((*q)[3].value()));
  return a.text("masked_rows", "zero") != "clean" && a.integer("is_causal", 0) == 0 && a.number("softcap", 0) == 0 &&
         std::abs(a.number("scale", static_cast<float>(usual)) - usual) < 1e-6;
}

std::optional<Sequences> by_attention(Match& m, ValueId value) {
  const NodeId attention = m.take(value, "Attention");
  if (!attention || !is_plain(m, attention)) return std::nullopt;
  return Sequences{sequence_first(m, m.operand(attention, 0)), sequence_first(m, m.operand(attention, 1)),
                   sequence_first(m, m.operand(attention, 2)), (*m.shape(m.operand(attention, 0)))[1].value()};
}

/// The keys of a product, transposed in one step or in two.
ValueId transposed_keys(Match& m, ValueId keys) {
  const NodeId transpose = m.take(keys, "Transpose");
  if (!transpose) return {};
  const ir::Ints perm = m.node(transpose).attributes.ints("perm");
  if (perm == ir::Ints{0, 1, 3, 2}) return sequence_first(m, m.operand(transpose, 0));
  const NodeId reshape = perm == ir::Ints{1, 2, 3, 0} ? m.take(m.operand(transpose, 0), "Reshape") : NodeId{};
  return reshape && m.rank(m.operand(reshape, 0)) == 3 ? m.operand(reshape, 0) : ValueId{};
}

/// The same written out: softmax(q * 1 / sqrt(size) k^T) v.
std::optional<Sequences> by_softmax(Match& m, ValueId value) {
  const NodeId outer = m.take(value, "MatMul"), softmax = outer ? m.take(m.operand(outer, 0), "Softmax") : NodeId{};
  const ValueId p = softmax ? m.result(softmax) : ValueId{};
  const NodeId inner = softmax && m.axis(softmax, "axis", -1, p) == 3 ? m.take(m.operand(softmax, 0), "MatMul") : NodeId{};
  const NodeId scaled = inner ? m.take(m.operand(inner, 0), "Mul") : NodeId{};
  const DimList* heads = scaled ? m.shape(m.result(scaled)) : nullptr;
  if (!heads || heads->size() != 4 || !(*heads)[1].is_number() || !(*heads)[3].is_number()) return std::nullopt;
  const size_t at = m.is_constant(m.operand(scaled, 1)) ? 1 : 0;
  if (!m.is_number(m.operand(scaled, at), 1 / std::sqrt(static_cast<double>((*heads)[3].value())))) return std::nullopt;
  return Sequences{sequence_first(m, m.operand(scaled, 1 - at)), transposed_keys(m, m.operand(inner, 1)),
                   sequence_first(m, m.operand(outer, 1)), (*heads)[1].value()};
}

/// Keys and values: halves of one product, or two products of one value.
bool mapped_rest(Match& m, const Sequences& s, Decoder& found) {
  if (!m.same_shape(s.k, s.v)) return false;
  if (const NodeId split = m.take(s.k, "Split")) {
    if (m.node(split).outputs.size() != 2 || m.result(split, 0) != s.k || m.result(split, 1) != s.v) return false;
    const auto both = mapped(m, m.operand(split, 0));
    if (both) found.rest = *both;
    return both.has_value();
  }
  const auto keys = mapped(m, s.k);
  found.values = keys ? mapped(m, s.v) : std::nullopt;
  if (!found.values || found.values->x != keys->x) return false;
  found.rest = *keys;
  return true;
}

bool decoder(Match& m) {
  const NodeId transpose = m.take(m.operand(m.root(), 0), "Transpose");
  if (!transpose || m.node(transpose).attributes.ints("perm") != ir::Ints{2, 0, 1, 3}) return false;
  auto sequences = by_attention(m, m.operand(transpose, 0));
  if (!sequences) sequences = by_softmax(m, m.operand(transpose, 0));
  if (!sequences || !sequences->q || !sequences->k || !sequences->v || !m.same_shape(m.result(m.root()), sequences->q)) return false;
  Decoder found;
  const auto query = mapped(m, sequences->q);
  if (!query || !mapped_rest(m, *sequences, found)) return m.refuse("queries, keys and values are not products with a bias");
  found.query = *query;
  found.heads = sequences->heads;
  return m.accept(found);
}

bool to_decoder(const Match& m, Rewriter& w) {
  const Decoder& d = m.state<Decoder>();
  const auto flag = [&](bool on) {
    Tensor t = *Tensor::make(DType::boolean, {1});
    t.set_integer(0, on);
    return w.constant(std::move(t));
  };
  std::vector<ValueId> biases{d.query.bias, d.rest.bias};
  ValueId rest = d.rest.weights;
  if (d.values) {
    biases.push_back(d.values->bias);
    rest = w("Concat", {rest, d.values->weights}, {{"axis", int64_t{1}}});
  }
  const ValueId bias = w("Concat", biases, {{"axis", int64_t{0}}});
  std::vector<ValueId> inputs{d.query.x, d.rest.x, d.query.weights, rest, bias, {}, {}, {}};
  for (bool on : {d.query.x != d.rest.x, false, false, false}) inputs.push_back(flag(on));
  return replace_root(m, w, w("com.microsoft::DecoderAttention", inputs, {{"num_heads", d.heads}}));
}

}  // namespace

RULES(onnxruntime_decoder) {
    .sets = "onnxruntime_cuda",
    .rules =
        {
            {.name = "decoder_attention",
             .docs = "attention of sequence-first operands, with the products that make its operands; the CPU build has no kernel",
             .roots = "Reshape",
             .match = decoder,
             .rewrite = to_decoder,
             .numerics = Numerics::reassociating,
             .benefit = 9,
             .covered_patterns = "DecoderAttention"},
        },
};

}  // namespace tenon::rules::onnxruntime_decoder
