// SPDX-License-Identifier: Apache-2.0
// Factors and addends for each channel after a convolution are folded into its weights and bias: convolution is linear in both. New weights
// are lazy (scale along an axis), new biases are computed in fp64 and rounded once. Zero padding before it is added to its pads.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/channels.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::fuse_conv {
using namespace rewrite;
namespace {

/// y = conv(x, w * factor[c]) + bias[c], with `factor` along the weights' axis of output channels.
struct Folded {
  NodeId conv;
  int64_t channels = 0;
  int axis = 0;
  Numbers factor, bias;
};

/// Initializes the folded bias with the convolution's own bias; zeros where it has none.
bool start_from_bias(const Match& m, ValueId bias, Folded& found) {
  found.bias.assign(found.channels, 0);
  const Tensor* t = bias ? m.graph().tensor_of(bias, /*byte_limit=*/1 << 24) : nullptr;
  if (bias && (!t || t->count() != found.channels)) return false;
  if (bias) found.bias = numbers_of(*t);
  return true;
}

/// The convolution that makes operand `slot` of the root, with constant weights and bias.
bool conv_before(Match& m, size_t slot, Folded& found) {
  const ValueId value = m.operand(m.root(), slot);
  NodeId conv = m.producer(value, "Conv");
  const bool transposed = !conv;
  if (transposed) conv = m.producer(value, "ConvTranspose");
  if (!conv || m.dtype(value) != DType::f32) return false;
  if (transposed && m.node(conv).attributes.integer("group", 1) != 1) return false;
  const ValueId weight = m.operand(conv, 1), bias = m.operand(conv, 2);
  if (!m.is_constant(weight) || (bias && !m.is_constant(bias)) || !m.shape(weight) || m.shape(weight)->size() < 3) return false;
  found.conv = conv;
  found.axis = transposed ? 1 : 0;
  found.channels = (*m.shape(weight))[found.axis].value();
  found.factor.assign(found.channels, 1);
  if (!start_from_bias(m, bias, found)) return false;
  m.take(conv);
  return true;
}

/// One number a channel out of a constant that broadcasts along axis 1 (or all axes) of a value of that rank.
std::optional<Numbers> per_channel(const Match& m, ValueId value, int64_t channels, int rank) {
  const DimList* shape = m.shape(value);
  if (!m.is_constant(value) || !shape || static_cast<int>(shape->size()) > rank) return std::nullopt;
  if (const auto number = m.number(value); number && product(*shape).known_equal(1)) return Numbers(channels, *number);
  for (size_t i = 0; i < shape->size(); ++i) {
    const bool is_channel = static_cast<int>(i) + rank - static_cast<int>(shape->size()) == 1;
    if (!(*shape)[i].known_equal(is_channel ? channels : 1)) return std::nullopt;
  }
  return vector_of(m, value, channels);
}

bool batch_norm(Match& m) {
  Folded found;
  if (!conv_before(m, 0, found)) return false;
  const auto map = batch_norm_map(m, m.root(), found.channels);
  if (!map) return m.refuse("the statistics are not constant, or not finite");
  found.factor = map->factor;
  for (int64_t c = 0; c < found.channels; ++c) found.bias[c] = found.bias[c] * map->factor[c] + map->bias[c];
  return m.accept(std::move(found));
}

bool channel_factor(Match& m) {
  Folded found;
  const size_t slot = m.is_constant(m.operand(m.root(), 0)) ? 1 : 0;
  if (!conv_before(m, slot, found) || !m.same_type(m.operand(m.root(), slot), m.result(m.root()))) return false;
  const auto numbers = per_channel(m, m.operand(m.root(), 1 - slot), found.channels, *m.rank(m.result(m.root())));
  if (!numbers) return false;
  const bool adds = m.node(m.root()).is("Add");
  for (int64_t c = 0; c < found.channels; ++c) {
    if (adds) {
      found.bias[c] += (*numbers)[c];
    } else {
      found.factor[c] = (*numbers)[c];
      found.bias[c] *= (*numbers)[c];
    }
  }
  return m.accept(std::move(found));
}

bool fold_in(const Match& m, Rewriter& w) {
  const Folded& found = m.state<Folded>();
  const ValueId weight = scaled_weight(m, w, m.operand(found.conv, 1), found.factor, found.axis);
  return replace_root(m, w, w.clone_with_operands(found.conv, {m.operand(found.conv, 0), weight, vector_constant(w, found.bias)})[0]);
}

bool pads_with_zeros(const Match& m, NodeId pad) {
  if (m.node(pad).attributes.text("mode", "constant") != "constant" || m.operand(pad, 3)) return false;
  return !m.operand(pad, 2) || m.is_number(m.operand(pad, 2), 0);
}

/// [begin..., end...] of a picture [N, C, spatial...]: at its spatial axes alone, and nothing is cut off.
bool pads_space(const ir::Ints& pads, int rank) {
  if (static_cast<int>(pads.size()) != 2 * rank || rank < 3) return false;
  return std::ranges::all_of(pads, [](int64_t p) { return p >= 0; }) && !pads[0] && !pads[1] && !pads[rank] && !pads[rank + 1];
}

bool zero_pad(Match& m) {
  const NodeId pad = m.take(m.operand(m.root(), 0), "Pad");
  if (!pad || !pads_with_zeros(m, pad)) return false;
  const auto pads = m.ints(m.operand(pad, 1));
  const auto rank = m.rank(m.operand(pad, 0));
  const auto& attributes = m.node(m.root()).attributes;
  if (!pads || !rank || attributes.text("auto_pad", "NOTSET") != "NOTSET") return false;
  if (m.node(m.root()).is("AveragePool") && (attributes.integer("count_include_pad", 0) == 0 || attributes.integer("ceil_mode", 0) != 0))
    return false;
  if (!pads_space(*pads, *rank)) return false;
  const int spatial = *rank - 2;
  ir::Ints now = attributes.ints("pads", ir::Ints(2 * spatial, 0));
  for (int i = 0; i < spatial; ++i) {
    now[i] += (*pads)[i + 2];
    now[spatial + i] += (*pads)[*rank + i + 2];
  }
  return m.accept(std::move(now));
}

bool wider_pads(const Match& m, Rewriter& w) {
  const Node& node = m.node(m.root());
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = m.operand(m.nodes[1], 0);
  auto attributes = attributes_except(node, {"pads"});
  attributes.emplace_back("pads", m.state<ir::Ints>());
  return replace_root(m, w, w(node.op->name, inputs, std::move(attributes)));
}

}  // namespace

RULES(fuse_conv) {
    .rules =
        {
            {.name = "conv_batch_norm",
             .docs = "BatchNormalization after a convolution goes into its weights and bias",
             .roots = "BatchNormalization",
             .match = batch_norm,
             .rewrite = fold_in,
             .numerics = Numerics::reassociating,
             .benefit = 6},
            {.name = "conv_channel_factor",
             .docs = "a constant factor or summand a channel after a convolution goes into its weights and bias",
             .roots = "Mul Add",
             .match = channel_factor,
             .rewrite = fold_in,
             .numerics = Numerics::reassociating,
             .benefit = 5},
            {.name = "pad_into_conv",
             .docs = "zero padding before a convolution or a pool that counts pads",
             .roots = "Conv AveragePool",
             .match = zero_pad,
             .rewrite = wider_pads,
             .benefit = 5,
             .sets = "tenon default",
             .covered_patterns = "PadConv"},
        },
};

}  // namespace tenon::rules::fuse_conv
