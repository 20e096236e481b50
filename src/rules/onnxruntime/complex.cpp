// SPDX-License-Identifier: Apache-2.0
// Products of complex numbers written out in their parts. The CPU build of ONNX Runtime has no kernel for either op.
#include "rewrite/rule.h"

namespace tenon::rules::onnxruntime_complex {
using namespace rewrite;

RULES(onnxruntime_complex) {
    .sets = "onnxruntime_cuda",
    .rules =
        {
            {.name = "complex_mul",
             .docs = "(a + bi)(c + di), the parts of each number side by side in the last axis",
             .equation =
                 "Concat(Sub(Mul(Gather(?a, [0], axis=-1), Gather(?b, [0], axis=-1)), Mul(Gather(?a, [1], axis=-1), Gather(?b, [1],"
                 " axis=-1))), Add(Mul(Gather(?a, [0], axis=-1), Gather(?b, [1], axis=-1)), Mul(Gather(?a, [1], axis=-1), Gather(?b,"
                 " [0], axis=-1))), axis=-1) => com.microsoft::ComplexMul(?a, ?b) where dim(?a, -1) == 2, dim(?b, -1) == 2",
             .seeds = "ComplexMul"},
            {.name = "complex_mul_split",
             .docs = "the same where the parts were split off",
             .equation =
                 "Concat(Sub(Mul(Split(?a, ?n?, axis=-1).0, Split(?b, ?o?, axis=-1).0), Mul(Split(?a, ?n?, axis=-1).1, Split(?b, ?o?,"
                 " axis=-1).1)), Add(Mul(Split(?a, ?n?, axis=-1).0, Split(?b, ?o?, axis=-1).1), Mul(Split(?a, ?n?, axis=-1).1,"
                 " Split(?b, ?o?, axis=-1).0)), axis=-1) => com.microsoft::ComplexMul(?a, ?b) where dim(?a, -1) == 2, dim(?b, -1) == 2",
             .seeds = "ComplexMul"},
            {.name = "complex_mul_conj",
             .docs = "a number times the conjugate of another",
             .equation =
                 "Concat(Add(Mul(Gather(?a, [0], axis=-1), Gather(?b, [0], axis=-1)), Mul(Gather(?a, [1], axis=-1), Gather(?b, [1],"
                 " axis=-1))), Sub(Mul(Gather(?a, [1], axis=-1), Gather(?b, [0], axis=-1)), Mul(Gather(?a, [0], axis=-1), Gather(?b,"
                 " [1], axis=-1))), axis=-1) => com.microsoft::ComplexMulConj(?a, ?b) where dim(?a, -1) == 2, dim(?b, -1) == 2",
             .seeds = "ComplexMulConj"},
        },
};

}  // namespace tenon::rules::onnxruntime_complex
