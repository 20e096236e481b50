// SPDX-License-Identifier: Apache-2.0
// Attention of sequences that stand first, [sequence, batch, width], with its products: DecoderAttention of ONNX Runtime, for which the
// CPU build has no kernel.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/give_back.h"

namespace tenon::rules::onnxruntime_decoder {
using namespace rewrite;
namespace {

struct Mapped {
  ValueId x, weights, bias;
};
struct Decoder {
  Mapped query, rest;
  int64_t heads = 0;
};

/// x * weights + bias.
std::optional<Mapped> mapped(Match& m, ValueId value) {
  const NodeId add = m.take(value, "Add");
  for (size_t k : {0, 1}) {
    const NodeId product = add ? m.made_by(m.operand(add, k), "MatMul") : NodeId{};
    if (!product || m.rank(m.operand(product, 0)) != 3 || m.rank(m.operand(product, 1)) != 2 || m.rank(m.operand(add, 1 - k)) != 1)
      continue;
    m.take(product);
    return Mapped{m.operand(product, 0), m.operand(product, 1), m.operand(add, 1 - k)};
  }
  return std::nullopt;
}

/// [sequence, batch, width], of which `heads` is [batch, heads, sequence, size].
ValueId sequence_first(Match& m, ValueId heads) {
  const NodeId turn = m.take(heads, "Transpose");
  const NodeId reshape =
      turn && m.node(turn).attributes.ints("perm") == ir::Ints{1, 2, 0, 3} ? m.take(m.operand(turn, 0), "Reshape") : NodeId{};
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

bool decoder(Match& m) {
  const NodeId turn = m.take(m.operand(m.root(), 0), "Transpose");
  if (!turn || m.node(turn).attributes.ints("perm") != ir::Ints{2, 0, 1, 3}) return false;
  const NodeId attention = m.take(m.operand(turn, 0), "Attention");
  if (!attention || !is_plain(m, attention)) return false;
  const ValueId q = sequence_first(m, m.operand(attention, 0)), k = sequence_first(m, m.operand(attention, 1)),
                v = sequence_first(m, m.operand(attention, 2));
  const NodeId split = q && k && v ? m.take(k, "Split") : NodeId{};
  if (!split || m.node(split).outputs.size() != 2 || m.result(split, 0) != k || m.result(split, 1) != v || !m.same_shape(k, v))
    return false;
  const auto query = mapped(m, q), rest = mapped(m, m.operand(split, 0));
  if (!query || !rest || !m.same_shape(m.result(m.root()), q)) return false;
  return m.keep(Decoder{*query, *rest, (*m.shape(m.operand(attention, 0)))[1].value()});
}

bool to_decoder(const Match& m, Rewriter& w) {
  const Decoder& d = m.kept<Decoder>();
  const auto flag = [&](bool on) {
    Tensor t = *Tensor::make(DType::boolean, {1});
    t.set_integer(0, on);
    return w.constant(std::move(t));
  };
  const ValueId bias = w("Concat", {d.query.bias, d.rest.bias}, {{"axis", int64_t{0}}});
  std::vector<ValueId> inputs{d.query.x, d.rest.x, d.query.weights, d.rest.weights, bias, {}, {}, {}};
  for (bool on : {d.query.x != d.rest.x, false, false, false}) inputs.push_back(flag(on));
  return give(m, w, w("com.microsoft::DecoderAttention", inputs, {{"num_heads", d.heads}}));
}

}  // namespace

RULES(onnxruntime_decoder) {
    .sets = "onnxruntime_cuda",
    .rules =
        {
            {.name = "decoder_attention",
             .docs = "attention of sequences that stand first, with the products that make its operands; the CPU build has no kernel",
             .roots = "Reshape",
             .match = decoder,
             .rewrite = to_decoder,
             .numerics = Numerics::reassociating,
             .benefit = 9,
             .seeds = "DecoderAttention"},
        },
};

}  // namespace tenon::rules::onnxruntime_decoder
