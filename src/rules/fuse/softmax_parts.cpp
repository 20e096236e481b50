// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax over the last axis, written out. Both sides take the maximum away before exp; the sum may be taken in another
// order. With e = exp(x - max(x)) and s = sum(e): softmax is e / s, and its logarithm is (x - max(x)) - log(s).
#include "ir/builder.h"
#include "rewrite/rule.h"

namespace tenon::rules::fuse_softmax_parts {
using namespace rewrite;
namespace {

using ir::Builder, ir::ValueId;
using Values = std::vector<ValueId>;

constexpr std::string_view kInputs = "x max_axes sum_axes";
constexpr std::string_view kLastAxis = "last_axis(?max_axes, ?x), last_axis(?sum_axes, ?x)";

Values softmax(Builder& b, std::span<const ValueId> in) {
  const ValueId largest = b("ReduceMax", {in[0], in[1]});
  const ValueId e = b("Exp", {b("Sub", {in[0], largest})});
  return {b("Div", {e, b("ReduceSum", {e, in[2]})})};
}

Values log_softmax(Builder& b, std::span<const ValueId> in) {
  const ValueId below = b("Sub", {in[0], b("ReduceMax", {in[0], in[1]})});
  return {b("Sub", {below, b("Log", {b("ReduceSum", {b("Exp", {below}), in[2]})})})};
}

Values one_softmax(Builder& b, std::span<const ValueId> in) { return {b("Softmax", {in[0]}, {{"axis", int64_t{-1}}})}; }
Values one_log_softmax(Builder& b, std::span<const ValueId> in) { return {b("LogSoftmax", {in[0]}, {{"axis", int64_t{-1}}})}; }

}  // namespace

RULES(fuse_softmax_parts) {
    .rules =
        {
            {.name = "softmax",
             .docs = "exp(x - max(x)) by its sum over the last axis",
             .pattern_inputs = kInputs,
             .match_pattern = softmax,
             .apply_pattern = one_softmax,
             .where = kLastAxis,
             .numerics = Numerics::reassociating,
             .benefit = 6},
            {.name = "log_softmax",
             .docs = "x - max(x) less the logarithm of the sum of exp(x - max(x)) over the last axis",
             .pattern_inputs = kInputs,
             .match_pattern = log_softmax,
             .apply_pattern = one_log_softmax,
             .where = kLastAxis,
             .numerics = Numerics::reassociating,
             .benefit = 6},
        },
};

}  // namespace tenon::rules::fuse_softmax_parts
