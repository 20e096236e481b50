// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/quant/definition.h"
#include "ops/quant/parameters.h"

namespace tenon::ops::op_q_embed_layer_normalization {

namespace {

enum Input : size_t { kIds, kSegments, kWords, kPositionTable, kSegmentTable, kGamma, kBeta, kMask, kScales };
/// Numbers of the operands with the scales of words, positions, segments, gamma and beta; zero points follow five operands later.
constexpr size_t kZeros = kScales + 5;

/// Gathers rows first, then dequantizes them.
ir::ValueId rows(ir::Builder& build, std::span<const ir::ValueId> in, size_t table, size_t which, ir::ValueId ids) {
  const ir::ValueId parts[] = {build("Gather", {in[table], ids}), in[kScales + which], in[kZeros + which]};
  return dequantized(build, parts, 0);
}

ir::ValueId numbers(ir::Builder& build, std::span<const ir::ValueId> in, size_t k, size_t which) {
  const ir::ValueId parts[] = {in[k], in[kScales + which], in[kZeros + which]};
  return dequantized(build, parts, 0);
}

ir::ValueId word_counts(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!view.has(kMask)) return build("Expand", {build.scalar(DType::i32, 0), shape_of(build, in[kIds], 0, 1)});
  const ir::ValueId ones = build("Equal", {in[kMask], build.scalar(view.type(kMask).dtype, 1)});
  return build("ReduceSum", {cast_to(build, ones, DType::i32), build.ints({1})}, {{"keepdims", int64_t{0}}});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (in.size() != kZeros + 5) return {};
  const ir::ValueId positions = iota(build, size_of(build, in[kIds], 1));
  ir::ValueId sum = build("Add", {rows(build, in, kWords, 0, in[kIds]), rows(build, in, kPositionTable, 1, positions)});
  if (view.has(kSegments)) sum = build("Add", {sum, rows(build, in, kSegmentTable, 2, in[kSegments])});
  const ir::ValueId y = build("LayerNormalization", {sum, numbers(build, in, kGamma, 3), numbers(build, in, kBeta, 4)},
                              {{"axis", int64_t{-1}}, {"epsilon", view.attributes->number("epsilon", 1e-12f)}});
  std::vector<ir::ValueId> out{y};
  if (view.outputs.size() > 1) out.push_back(word_counts(build, view, in));
  return out;
}

Result<void> infer(NodeView& view) {
  for (size_t k : {kIds, kWords, kPositionTable}) TRY(require_rank(view, k, 2));
  for (size_t k : {kGamma, kBeta}) TRY(require_rank(view, k, 1));
  for (size_t k : {kWords, kPositionTable, kSegmentTable, kGamma, kBeta}) TRY(require_dtype(view, k, is_byte, "i8 or u8"));
  if (view.has(kSegments) && !view.has(kSegmentTable)) return refuse(view, Code::bad_graph, "segment ids without a segment embedding");
  TRY(infer_by_definition(view));
  if (view.outputs[0].dtype != DType::f32) set_output(view, 0, Type(DType::f32));
  return {};
}

}  // namespace

/// EmbedLayerNormalization with 8-bit tables, gamma and beta.
OP(q_embed_layer_normalization) {
    .name = "QEmbedLayerNormalization",
    .domain = "com.microsoft",
    .inputs = {{"input_ids", "segment_ids?", "word_embedding_quant", "position_embedding_quant", "segment_embedding?", "gamma_quant",
                "beta_quant", "mask?", "word_embedding_scale", "position_embedding_scale", "segment_embedding_scale?", "gamma_scale",
                "beta_scale", "word_embedding_zero_point", "position_embedding_zero_point", "segment_embedding_zero_point?",
                "gamma_zero_point", "beta_zero_point"}},
    .outputs = {{"layernorm_out", "mask_index_out?"}},
    .attributes = {{"epsilon: float = 1e-12"}},
    .infer = infer,
    .definition = define,
    .samples =
        {{"i32[2,3] in 0..9, i32[2,3] in 0..1, u8[10,8] in 0..255, u8[5,8] in 0..255, u8[2,8] in 0..255, u8[8] in 0..255, u8[8] in 0..255, "
          "i32[2,3] in 0..1, f32[] = 0.05, f32[] = 0.02, f32[] = 0.03, f32[] = 0.01, f32[] = 0.02, u8[] = 128, u8[] = 120, u8[] = 110, "
          "u8[] = 3, u8[] = 100; outputs=2",
          "i32[2,3] in 0..9, _, i8[10,8] in -128..127, i8[5,8] in -128..127, _, i8[8] in -128..127, i8[8] in -128..127, _, f32[] = 0.05, "
          "f32[] = 0.02, _, f32[] = 0.01, f32[] = 0.02, i8[] = 12, i8[] = -12, _, i8[] = 3, i8[] = 10; outputs=2, epsilon=0.001"}},
};

}  // namespace tenon::ops::op_q_embed_layer_normalization
