// SPDX-License-Identifier: Apache-2.0
// Why both sides are equal: |-x| = |x| for every x, NaN and infinity included.
#include "rewrite/rule.h"

namespace tenon::rules::FOLDER_NAME {
using namespace rewrite;

RULES(FOLDER_NAME) {
    .rules =
        {
            {.name = "NAME", .docs = "|-x| is |x|", .equation = "Abs(Neg(?x)) => Abs(?x) where float(?x)"},
        },
};

}  // namespace tenon::rules::FOLDER_NAME
