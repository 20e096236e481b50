// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_embed_layer_normalization {

namespace {

enum Input : size_t { kIds, kSegments, kWords, kPositionTable, kSegmentTable, kGamma, kBeta, kMask, kPositions };

Result<void> infer(NodeView& view) {
  for (size_t k : {kIds, kWords, kPositionTable}) TRY(require_rank(view, k, 2));
  for (size_t k : {kGamma, kBeta}) TRY(require_rank(view, k, 1));
  TRY(infer_by_definition(view));
  if (view.outputs[0].dtype != dtype_of(view, kWords)) set_output(view, 0, Type(dtype_of(view, kWords)));
  return {};
}

/// The rows of the position table for the positions of the sequence.
ir::ValueId positions(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (view.has(kPositions)) return build("Gather", {in[kPositionTable], in[kPositions]});
  return build("Gather", {in[kPositionTable], iota(build, size_of(build, in[kIds], 1))});
}

/// The number of words of each sequence by its mask; 0 where there is no mask.
ir::ValueId word_counts(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!view.has(kMask)) return build("Expand", {build.scalar(DType::i32, 0), shape_of(build, in[kIds], 0, 1)});
  const ir::ValueId ones = build("Equal", {in[kMask], build.scalar(view.type(kMask).dtype, 1)});
  return build("ReduceSum", {cast_to(build, ones, DType::i32), build.ints({1})}, {{"keepdims", int64_t{0}}});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {kIds, kWords, kPositionTable})) return {};
  ir::ValueId sum = build("Add", {build("Gather", {in[kWords], in[kIds]}), positions(build, view, in)});
  if (view.has(kSegments)) sum = build("Add", {sum, build("Gather", {in[kSegmentTable], in[kSegments]})});
  const ir::ValueId y = build("LayerNormalization", {sum, in[kGamma], in[kBeta]},
                              {{"axis", int64_t{-1}}, {"epsilon", view.attributes->number("epsilon", 1e-12f)}});
  std::vector<ir::ValueId> out{y};
  if (view.outputs.size() > 1) out.push_back(word_counts(build, view, in));
  if (view.outputs.size() > 2) out.push_back(sum);
  return out;
}

}  // namespace

OP(embed_layer_normalization) {
    .name = "EmbedLayerNormalization",
    .domain = "com.microsoft",
    .inputs = {{"input_ids", "segment_ids?", "word_embedding", "position_embedding", "segment_embedding?", "gamma", "beta", "mask?",
                "position_ids?"}},
    .outputs = {{"output", "mask_index", "embedding_sum?"}},
    .attributes = {{"epsilon: float = 1e-12", "mask_index_type: int"}},
    .infer = infer,
    .definition = define,
    .samples =
        {{"i32[2,3] in 0..9, i32[2,3] in 0..1, f32[10,8], f32[5,8], f32[2,8], f32[8], f32[8]; outputs=2",
          "i32[2,3] in 0..9, _, f32[10,8], f32[5,8], _, f32[8], f32[8], i32[2,3] in 0..1, i32[2,3] in 0..4; outputs=3, epsilon=0.001"}},
};

}  // namespace tenon::ops::op_embed_layer_normalization
