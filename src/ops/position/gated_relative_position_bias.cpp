// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/heads.h"
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/types.h"

namespace tenon::ops::op_gated_relative_position_bias {

namespace {

/// gate_u * (gate_r * eco_a - 1) + 2, times the bias; the gates are sums over halves of a linear map of each head's query.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (view.has(6) || !ranks_known(view, {0, 3}) || view.rank(0) != 3 || view.rank(3) != 2 || !view.type(3).dim(1).is_number()) return {};
  const int64_t heads = view.attributes->integer("num_heads", 1), half = view.type(3).dim(1).value() / 2;
  const DType dtype = view.type(0).dtype;
  const ir::ValueId query = split_heads(build, build("Add", {in[0], in[1]}), heads);
  const ir::ValueId parts = build("Reshape", {build("Add", {build("MatMul", {query, in[3]}), in[4]}), build.ints({0, 0, 0, 2, half})});
  const ir::ValueId sums = build("ReduceSum", {parts, build.ints({-1})}, {{"keepdims", int64_t{0}}});
  const auto gates = build.many("Split", {build("Sigmoid", {sums})}, 2, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}});
  const ir::ValueId inner = build("Sub", {build("Mul", {gates[1], in[5]}), build.scalar(dtype, 1)});
  return {build("Mul", {build("Add", {build("Mul", {gates[0], inner}), build.scalar(dtype, 2)}), in[2]})};
}

}  // namespace

OP(gated_relative_position_bias) {
    .name = "GatedRelativePositionBias",
    .domain = "com.microsoft",
    .inputs = {{"query_layer", "query_bias", "rel_pos", "weight", "bias", "eco_a", "token_offset?"}},
    .outputs = {{"output"}},
    .attributes = {{"num_heads: int!"}},
    .infer = infer_by_definition,
    .definition = define,
    .samples = {{"f32[2,3,8], f32[8], f32[1,2,3,3], f32[4,6], f32[6], f32[1,2,1,1]; num_heads=2"}},
};

}  // namespace tenon::ops::op_gated_relative_position_bias
