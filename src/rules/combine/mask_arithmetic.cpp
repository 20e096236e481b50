// SPDX-License-Identifier: Apache-2.0
// Masks written as arithmetic. The same real functions for finite numbers; each rule's docs state where results differ otherwise. The
// constants may have any rank that does not widen the result. In a late stage, because fusions recognise masks by these forms.
#include "rewrite/rule.h"

namespace tenon::rules::combine_mask_arithmetic {
using namespace rewrite;

RULES(combine_mask_arithmetic) {
    .sets = "default",
    .rules =
        {
            {.name = "one_minus",
             .docs = "(1 - x) * y is y - x*y, without a tensor of 1 - x (an infinite y gives NaN)",
             .equation = "Mul(Sub(?one, ?x), ?y) => Sub(?y, Mul(?x, ?y)) where float(?x), not constant(?y), value(?one) >= 1,"
                         " value(?one) <= 1, size(?one) == 1, rank(?one) <= rank(?x)",
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 2,
             .covered_patterns = "Sub1Mul"},
            {.name = "where_add",
             .docs = "x + Where(m, 0, -inf) is Where(m, x, -inf) (where masked, an x of infinity or NaN gave NaN)",
             .equation = "Add(?x, Where(?m, ?z, ?low)) => Where(?m, ?x, ?low) where float(?x), value(?z) == 0, size(?z) == 1,"
                         " rank(?z) <= rank(?x), not finite(?low), value(?low) < 0",
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 2,
             .covered_patterns = "WhereAdd"},
            {.name = "where_add_else",
             .docs = "x + Where(m, -inf, 0) is Where(m, -inf, x) (where masked, an x of infinity or NaN gave NaN)",
             .equation = "Add(?x, Where(?m, ?low, ?z)) => Where(?m, ?low, ?x) where float(?x), value(?z) == 0, size(?z) == 1,"
                         " rank(?z) <= rank(?x), not finite(?low), value(?low) < 0",
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 2,
             .covered_patterns = "WhereAdd"},
        },
};

}  // namespace tenon::rules::combine_mask_arithmetic
