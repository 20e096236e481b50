// SPDX-License-Identifier: Apache-2.0
// A vector of one element that is made a scalar for one op with a scalar, and a vector again: the op broadcasts the scalar anyway.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::clean_squeeze_scalar {
using namespace rewrite;

RULES(clean_squeeze_scalar) {
    .sets = "default",
    .rules =
        {
            {.name = "squeeze_add_unsqueeze",
             .docs = "a vector of one element made a scalar for add with a scalar, and back",
             .equation =
                 "Unsqueeze(Add(Squeeze(?x, ?a), ?c), ([0] | [-1])) => Add(?x, ?c) where size(?a) == 1, rank(?x) == 1, rank(?c) == 0",
             .benefit = 3,
             .seeds = "SqueezeBinaryUnsqueeze"},
            {.name = "squeeze_mul_unsqueeze",
             .docs = "a vector of one element made a scalar for mul with a scalar, and back",
             .equation =
                 "Unsqueeze(Mul(Squeeze(?x, ?a), ?c), ([0] | [-1])) => Mul(?x, ?c) where size(?a) == 1, rank(?x) == 1, rank(?c) == 0",
             .benefit = 3,
             .seeds = "SqueezeBinaryUnsqueeze"},
            {.name = "squeeze_sub_unsqueeze",
             .docs = "a vector of one element made a scalar for sub with a scalar, and back",
             .equation =
                 "Unsqueeze(Sub(Squeeze(?x, ?a), ?c), ([0] | [-1])) => Sub(?x, ?c) where size(?a) == 1, rank(?x) == 1, rank(?c) == 0",
             .benefit = 3,
             .seeds = "SqueezeBinaryUnsqueeze"},
            {.name = "squeeze_div_unsqueeze",
             .docs = "a vector of one element made a scalar for div with a scalar, and back",
             .equation =
                 "Unsqueeze(Div(Squeeze(?x, ?a), ?c), ([0] | [-1])) => Div(?x, ?c) where size(?a) == 1, rank(?x) == 1, rank(?c) == 0",
             .benefit = 3,
             .seeds = "SqueezeBinaryUnsqueeze"},
            {.name = "squeeze_sub_from_unsqueeze",
             .docs = "a vector of one element made a scalar for sub with a scalar, and back",
             .equation =
                 "Unsqueeze(Sub(?c, Squeeze(?x, ?a)), ([0] | [-1])) => Sub(?c, ?x) where size(?a) == 1, rank(?x) == 1, rank(?c) == 0",
             .benefit = 3,
             .seeds = "SqueezeBinaryUnsqueeze"},
            {.name = "squeeze_div_of_unsqueeze",
             .docs = "a vector of one element made a scalar for div with a scalar, and back",
             .equation =
                 "Unsqueeze(Div(?c, Squeeze(?x, ?a)), ([0] | [-1])) => Div(?c, ?x) where size(?a) == 1, rank(?x) == 1, rank(?c) == 0",
             .benefit = 3,
             .seeds = "SqueezeBinaryUnsqueeze"},
        },
};

}  // namespace tenon::rules::clean_squeeze_scalar
