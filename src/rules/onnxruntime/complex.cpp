// SPDX-License-Identifier: Apache-2.0
// Products of complex numbers written out in their parts. The CPU build of ONNX Runtime has no kernel for either op.
#include "rewrite/rule.h"

namespace tenon::rules::onnxruntime_complex {
using namespace rewrite;

// The parts of ?a and ?b by numbers that name them, which take the last axis away; and what puts two of them side by side again.
#define A(part) "Gather(?a, ?a" part ", axis=-1)"
#define B(part) "Gather(?b, ?b" part ", axis=-1)"
#define SIDE_BY_SIDE(real, imaginary) "Concat(Unsqueeze(" real ", [-1]), Unsqueeze(" imaginary ", [-1]), axis=-1)"
#define PARTS                                                                                                                 \
  " where dim(?a, -1) == 2, dim(?b, -1) == 2, rank(?a0) == 0, rank(?a1) == 0, rank(?b0) == 0, rank(?b1) == 0, constant(?a0)," \
  " constant(?a1), constant(?b0), constant(?b1), value(?a0) == 0, value(?a1) == 1, value(?b0) == 0, value(?b1) == 1"

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
             .covered_patterns = "ComplexMul"},
            {.name = "complex_mul_split",
             .docs = "the same where the parts were split off",
             .equation =
                 "Concat(Sub(Mul(Split(?a, ?n?, axis=-1).0, Split(?b, ?o?, axis=-1).0), Mul(Split(?a, ?n?, axis=-1).1, Split(?b, ?o?,"
                 " axis=-1).1)), Add(Mul(Split(?a, ?n?, axis=-1).0, Split(?b, ?o?, axis=-1).1), Mul(Split(?a, ?n?, axis=-1).1,"
                 " Split(?b, ?o?, axis=-1).0)), axis=-1) => com.microsoft::ComplexMul(?a, ?b) where dim(?a, -1) == 2, dim(?b, -1) == 2",
             .covered_patterns = "ComplexMul"},
            {.name = "complex_mul_conj",
             .docs = "a number times the conjugate of another",
             .equation =
                 "Concat(Add(Mul(Gather(?a, [0], axis=-1), Gather(?b, [0], axis=-1)), Mul(Gather(?a, [1], axis=-1), Gather(?b, [1],"
                 " axis=-1))), Sub(Mul(Gather(?a, [1], axis=-1), Gather(?b, [0], axis=-1)), Mul(Gather(?a, [0], axis=-1), Gather(?b,"
                 " [1], axis=-1))), axis=-1) => com.microsoft::ComplexMulConj(?a, ?b) where dim(?a, -1) == 2, dim(?b, -1) == 2",
             .covered_patterns = "ComplexMulConj"},
            {.name = "complex_mul_scalars",
             .docs = "the product where each part was gathered by a number",
             .equation = SIDE_BY_SIDE(
                 "Sub(Mul(" A("0") ", " B("0") "), Mul(" A("1") ", " B("1") "))",
                 "Add(Mul(" A("0") ", " B("1") "), Mul(" A("1") ", " B("0") "))") " => com.microsoft::ComplexMul(?a, ?b)" PARTS,
             .covered_patterns = "ComplexMul"},
            {.name = "complex_mul_conj_scalars",
             .docs = "the same with the conjugate",
             .equation = SIDE_BY_SIDE(
                 "Add(Mul(" A("0") ", " B("0") "), Mul(" A("1") ", " B("1") "))",
                 "Sub(Mul(" A("1") ", " B("0") "), Mul(" A("0") ", " B("1") "))") " => com.microsoft::ComplexMulConj(?a, ?b)" PARTS,
             .covered_patterns = "ComplexMulConj"},
        },
};

#undef A
#undef B
#undef SIDE_BY_SIDE
#undef PARTS

}  // namespace tenon::rules::onnxruntime_complex
