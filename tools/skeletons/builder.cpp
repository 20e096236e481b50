// SPDX-License-Identifier: Apache-2.0
// Why both sides are equal: |-x| = |x| for every x, NaN and infinity included.
#include "ir/builder.h"
#include "rewrite/rule.h"

namespace tenon::rules::FOLDER_NAME {
using namespace rewrite;
namespace {

using ir::Builder, ir::ValueId;

std::vector<ValueId> negated_inside(Builder& b, std::span<const ValueId> in) { return {b("Abs", {b("Neg", {in[0]})})}; }
std::vector<ValueId> alone(Builder& b, std::span<const ValueId> in) { return {b("Abs", {in[0]})}; }

}  // namespace

RULES(FOLDER_NAME) {
    .rules =
        {
            {.name = "NAME",
             .docs = "|-x| is |x|",
             .pattern_inputs = "x",
             .match_pattern = negated_inside,
             .apply_pattern = alone,
             .where = "float(?x)"},
        },
};

}  // namespace tenon::rules::FOLDER_NAME
