// SPDX-License-Identifier: Apache-2.0
// Activations written out by exporters. Both sides of each equation are the same real function.
#include "rewrite/rule.h"

namespace tenon::rules::fuse_activation {
using namespace rewrite;

RULES(fuse_activation) {
    .rules =
        {
            {.name = "gelu_erf",
             .docs = "x * 0.5 * (1 + erf(x / sqrt 2)), as torch.nn.GELU is exported",
             .equation = "(Mul(Mul(?x, Add(Erf((Div(?x, 1.4142135) | Mul(?x, 0.70710678))), 1)), 0.5)"
                         "|Mul(Mul(?x, 0.5), Add(Erf((Div(?x, 1.4142135) | Mul(?x, 0.70710678))), 1))"
                         "|Mul(?x, Mul(Add(Erf((Div(?x, 1.4142135) | Mul(?x, 0.70710678))), 1), 0.5))) => Gelu(?x) where float(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .sets = "tenon default onnxruntime",
             .covered_patterns = "GeluErf"},
            {.name = "gelu_tanh",
             .docs = "x * 0.5 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), as GPT-2 is exported",
             .equation = "(Mul(Mul(?x, 0.5), Add(Tanh(Mul(Add(?x, Mul((Pow(?x, 3) | Mul(Mul(?x, ?x), ?x)), 0.044715)), 0.79788456)), 1))"
                         "|Mul(?x, Mul(Add(Tanh(Mul(Add(?x, Mul((Pow(?x, 3) | Mul(Mul(?x, ?x), ?x)), 0.044715)), 0.79788456)), 1), 0.5))"
                         "|Mul(Mul(?x, Add(Tanh(Mul(Add(?x, Mul((Pow(?x, 3) | Mul(Mul(?x, ?x), ?x)), 0.044715)), 0.79788456)), 1)), 0.5))"
                         " => Gelu(?x, approximate=\"tanh\") where float(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .sets = "tenon default onnxruntime",
             .covered_patterns = "Gelu GeluOrt"},
            {.name = "gelu_tanh_factored",
             .docs = "the same with x * (1 + 0.044715 x^2) inside",
             .equation = "(Mul(Mul(?x, 0.5), Add(Tanh(Mul(Mul(?x, 0.79788456), Add((Mul(Mul(?x, ?x), 0.044715) | Mul(Mul(?x,"
                         " 0.044715), ?x)), 1))), 1))"
                         "|Mul(Mul(?x, 0.5), Add(Tanh(Mul(Mul(?x, Add((Mul(Mul(?x, ?x), 0.044715) | Mul(Mul(?x, 0.044715), ?x)), 1)),"
                         " 0.79788456)), 1))"
                         "|Mul(Mul(?x, 0.5), Add(Tanh(Mul(?x, Mul(Add((Mul(Mul(?x, ?x), 0.044715) | Mul(Mul(?x, 0.044715), ?x)), 1),"
                         " 0.79788456))), 1)))"
                         " => Gelu(?x, approximate=\"tanh\") where float(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .sets = "tenon default onnxruntime",
             .covered_patterns = "Gelu GeluOrt"},
            {.name = "swish",
             .docs = "x * sigmoid(x)",
             .equation = "Mul(?x, Sigmoid(?x)) => Swish(?x) where float(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 6},
            {.name = "swish_factor",
             .docs = "x * sigmoid(a * x), the quick Gelu of CLIP",
             .equation =
                 "Mul(?x, Sigmoid(Mul(?x, ?a))) => Swish(?x, alpha=value(?a)) where dtype(?x) == f32 or dtype(?x) == f16, finite(?a),"
                 " rank(?a) <= rank(?x), size(?a) == 1",
             .numerics = Numerics::reassociating,
             .benefit = 6},
            {.name = "hard_swish",
             .docs = "x * hard_sigmoid(x) with slope 1/6 and offset 1/2",
             .equation = "Mul(?x, HardSigmoid(?x, alpha=0.16666667, beta=0.5)) => HardSwish(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 6},
            {.name = "hard_swish_clip",
             .docs = "x * clip(x + 3, 0, 6) / 6",
             .equation = "(Mul(Mul(?x, Clip(Add(?x, 3), 0, 6)), 0.16666667) | Mul(?x, Mul(Clip(Add(?x, 3), 0, 6), 0.16666667)) |"
                         " Div(Mul(?x, Clip(Add(?x, 3), 0, 6)), 6)) => HardSwish(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 6},
            {.name = "softplus",
             .docs = "log(1 + exp(x)) (the written-out form overflows where Softplus does not)",
             .equation = "Log(Add(Exp(?x), 1)) => Softplus(?x) where float(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 6},
            {.name = "mish",
             .docs = "x * tanh(softplus(x))",
             .equation = "Mul(?x, Tanh(Softplus(?x))) => Mish(?x) where float(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 6},
        },
};

}  // namespace tenon::rules::fuse_activation
