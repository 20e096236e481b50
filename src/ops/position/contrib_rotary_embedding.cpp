// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/activated.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/elementwise.h"

namespace tenon::ops::op_contrib_rotary_embedding {

namespace {

enum Input : size_t { kX, kPositions, kCosine, kSine };

Result<void> infer(NodeView& view) {
  TRY(require_rank(view, kX, 3, 4));
  TRY(require_rank(view, kPositions, 1, 2));
  for (size_t k : {kCosine, kSine}) TRY(require_rank(view, k, 2));
  return infer_same_type(view);
}

/// position_ids of one element is the first position; the others of the sequence follow it.
ir::ValueId rows(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (view.rank(kPositions) == 2) return in[kPositions];
  const ir::ValueId positions = iota(build, size_of(build, in[kX], view.rank(kX) == 3 ? 1 : 2));
  const ir::ValueId batch = build("Concat", {shape_of(build, in[kX], 0, 1), build.ints({1})}, {{"axis", int64_t{0}}});
  return build("Expand", {build("Unsqueeze", {build("Add", {positions, in[kPositions]}), build.ints({0})}), batch});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const ir::Attributes& a = *view.attributes;
  if (!ranks_known(view, {kX, kPositions, kCosine}) || a.integer("is_packed_batching", 0) != 0) return {};
  int64_t heads = a.integer("num_heads", 0);
  if (view.rank(kX) == 3 && heads == 0) {
    const Dim half = view.type(kCosine).dim(1), width = view.type(kX).dim(2);
    if (!half.is_number() || !width.is_number() || half.value() < 1) return {};
    heads = width.value() / (2 * half.value());
  }
  const ir::ValueId x = scaled(build, in[kX], view.type(kX).dtype, a.number("scale", 1));
  return {build("RotaryEmbedding", {x, in[kCosine], in[kSine], rows(build, view, in)},
                {{"interleaved", a.integer("interleaved", 0)},
                 {"num_heads", heads},
                 {"rotary_embedding_dim", a.integer("rotary_embedding_dim", 0)}})};
}

}  // namespace

OP(contrib_rotary_embedding) {
    .name = "RotaryEmbedding",
    .domain = "com.microsoft",
    .inputs = {{"input", "position_ids", "cos_cache", "sin_cache"}},
    .outputs = {{"output"}},
    .attributes = {{"interleaved: int = 0", "is_packed_batching: int = 0", "num_heads: int = 0", "rotary_embedding_dim: int = 0",
                    "scale: float = 1.0"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[2,4,3,8], i64[2,3] in 0..49, f32[50,4], f32[50,4]", "f32[2,3,32], i64[2,3] in 0..9, f32[10,4], f32[10,4]",
                 "f32[2,4,3,8], i64[1] = [2], f32[50,4], f32[50,4]; interleaved=1",
                 "f32[2,3,32], i64[2,3] in 0..9, f32[10,2], f32[10,2]; num_heads=4, rotary_embedding_dim=4"}},
};

}  // namespace tenon::ops::op_contrib_rotary_embedding
