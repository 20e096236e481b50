// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/elementwise.h"

namespace tenon::ops::op_bias_softmax {

namespace {

/// Softmax over all axes from `axis` on as one row, of x plus a bias (numpy broadcasting).
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {0})) return {};
  const int64_t axis = view.attributes->integer("axis", 1), rank = view.rank(0);
  const ir::ValueId sum = build("Add", {in[0], in[1]});
  if (axis == -1 || axis == rank - 1) return {build("Softmax", {sum}, {{"axis", int64_t{-1}}})};
  const ir::ValueId flat = build("Softmax", {build("Flatten", {sum}, {{"axis", axis}})}, {{"axis", int64_t{-1}}});
  return {build("Reshape", {flat, build("Shape", {in[0]})}, {{"allowzero", int64_t{1}}})};
}

}  // namespace

OP(bias_softmax) {
    .name = "BiasSoftmax",
    .domain = "com.microsoft",
    .inputs = {{"data", "bias"}},
    .outputs = {{"output"}},
    .attributes = {{"axis: int = 1", "is_inner_broadcast: int!"}},
    .infer = [](NodeView& view) -> Result<void> {
      if (ranks_known(view, {0})) TRY(require_broadcastable(view, 1, *view.type(0).shape));
      return infer_same_type(view);
    },
    .definition = define,
    .samples = {{"f32[2,3,4,5], f32[2,1,1,5]; axis=3, is_inner_broadcast=1", "f32[2,3,4,5], f32[1,1,4,5]; axis=3, is_inner_broadcast=0",
                 "f32[2,3,4], f32[1,3,4]; axis=1, is_inner_broadcast=0"}},
};

}  // namespace tenon::ops::op_bias_softmax
