// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_gemma_rotary_embedding {

namespace {

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const DType dtype = dtype_of(view, 1);
  const auto angle = [&](std::string_view op) { return build("Unsqueeze", {cast_to(build, build(op, {in[0]}), dtype), build.ints({1})}); };
  const ir::ValueId sine = angle("Sin"), cosine = angle("Cos");
  const auto rotated = [&](size_t k) { return build("Add", {build("Mul", {in[k], cosine}), build("Mul", {in[k + 1], sine})}); };
  return {rotated(1), rotated(3)};
}

Result<void> infer(NodeView& view) {
  TRY(require_rank(view, 0, 3));
  for (size_t k : {1, 2, 3, 4}) TRY(require_rank(view, k, 4));
  return infer_by_definition(view);
}

}  // namespace

OP(gemma_rotary_embedding) {
    .name = "GemmaRotaryEmbedding",
    .domain = "com.microsoft",
    .inputs = {{"emb", "q", "q_rot", "k", "k_rot"}},
    .outputs = {{"output1", "output2"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[2,3,4], f16[2,5,3,4], f16[2,5,3,4], f16[2,1,3,4], f16[2,1,3,4]; outputs=2"}},
};

}  // namespace tenon::ops::op_gemma_rotary_embedding
