// SPDX-License-Identifier: Apache-2.0
// A mixture of experts that is written out: the weights of each token's best expert are gathered, and two maps with an activation between
// them are taken of it.
#include "rewrite/rule.h"

namespace tenon::rules::onnxruntime_experts {
using namespace rewrite;

// Pieces of one equation. The best expert of each token; a token's map by its weights w and bias b; the whole with the activation's ops.
#define BEST "TopK(Softmax(?r, axis=-1), [1], axis=-1, largest=1)"
#define PICKED(w) "Gather(" w ", (Reshape(" BEST ".1, ([-1] | [0])) | Squeeze(" BEST ".1, [1])), axis=0)"
#define MAP(x, w, b) \
  "Add(Squeeze((MatMul(Unsqueeze(" x ", [1]), Transpose(" PICKED(w) ", perm=[0,2,1]))"                                        \
  " | com.microsoft::FusedMatMul(Unsqueeze(" x ", [1]), " PICKED(w) ", alpha=1, transA=0, transB=1, transBatchA=0, transBatchB=0)), [1]), " \
  PICKED(b) ")"
#define MIXTURE(activated, name)                                                                                                      \
  "Mul(" MAP(                                                                                                                         \
      activated, "?w2",                                                                                                               \
      "?b2") ", " BEST ".0) => com.microsoft::MoE(?x, ?r, ?w1, ?b1, ?w2, ?b2, k=1, activation_type=\"" name                           \
             "\")"                                                                                                                    \
             " where dtype(?x) == f32, rank(?x) == 2, rank(?r) == 2, rank(?w1) == 3, rank(?w2) == 3, rank(?b1) == 2, rank(?b2) == 2," \
             " dim(?w1, 0) == dim(?r, 1), dim(?w2, 0) == dim(?r, 1), dim(?b1, 0) == dim(?r, 1), dim(?b2, 0) == dim(?r, 1),"           \
             " dim(?b1, 1) == dim(?w1, 1), dim(?b2, 1) == dim(?w2, 1), dim(?x, 0) == dim(?r, 0), dim(?w2, 1) == dim(?x, 1)"

RULES(onnxruntime_experts) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "experts_relu",
             .docs = "the best of several experts with Relu is MoE",
             .equation = MIXTURE("Relu(" MAP("?x", "?w1", "?b1") ")", "relu"),
             .numerics = Numerics::reassociating,
             .benefit = 9,
             .shared = true,
             .seeds = "MoE"},
            {.name = "experts_gelu",
             .docs = "the same with Gelu by tanh, which is the one that MoE knows",
             .equation =
                 MIXTURE("(Gelu(" MAP("?x", "?w1", "?b1") ", approximate=\"tanh\") | com.microsoft::FastGelu(" MAP("?x", "?w1", "?b1") "))",
                         "gelu"),
             .numerics = Numerics::reassociating,
             .benefit = 9,
             .shared = true,
             .seeds = "MoE"},
            {.name = "experts_silu",
             .docs = "the same with x * sigmoid(x)",
             .equation = MIXTURE(
                 "(Swish(" MAP("?x", "?w1", "?b1") ", alpha=1) | com.microsoft::QuickGelu(" MAP("?x", "?w1", "?b1") ", alpha=1))", "silu"),
             .numerics = Numerics::reassociating,
             .benefit = 9,
             .shared = true,
             .seeds = "MoE"},
        },
};

#undef BEST
#undef PICKED
#undef MAP
#undef MIXTURE

}  // namespace tenon::rules::onnxruntime_experts
