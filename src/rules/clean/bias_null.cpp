// SPDX-License-Identifier: Apache-2.0
// A bias of zeros adds nothing. A sum of products that comes to -0 would become 0 by it, so the sign of a zero may differ.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::clean_bias_null {
using namespace rewrite;
namespace {

size_t bias_slot(const Node& node) { return node.is("QLinearConv") ? 8 : 2; }

bool zero_bias(Match& m) {
  const Node& node = m.node(m.root());
  const ValueId bias = m.operand(m.root(), bias_slot(node));
  return m.is_constant(bias) && m.is_number(bias, 0) && std::isfinite(node.attributes.number("beta", 1));
}

bool drop_bias(const Match& m, Rewriter& w) {
  const Node& node = m.node(m.root());
  w.replace(m.result(m.root()), w.again(m.root(), {node.inputs.begin(), node.inputs.begin() + bias_slot(node)})[0]);
  return true;
}

}  // namespace

RULES(clean_bias_null) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "bias_null",
             .docs = "a bias of zeros of a convolution or Gemm",
             .roots = "Conv ConvTranspose Gemm QLinearConv",
             .match = zero_bias,
             .rewrite = drop_bias,
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .seeds = "ConvBiasNull"},
        },
};

}  // namespace tenon::rules::clean_bias_null
