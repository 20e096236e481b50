// SPDX-License-Identifier: Apache-2.0
// Why both sides are equal: |-x| = |x| for every x, NaN and infinity included.
#include "rewrite/rule.h"

namespace tenon::rules::rules_NAME {
using namespace rewrite;

RULES(NAME) {
    .stage = Stage::clean,
    .rules =
        {
            {.name = "NAME", .docs = "|-x| is |x|", .equation = "Abs(Neg(?x)) => Abs(?x) where float(?x)"},
        },
};

}  // namespace tenon::rules::rules_NAME
