// SPDX-License-Identifier: Apache-2.0
// Self-attention of a decoder over one packed projection: what TensorRT-LLM keeps in its plugin GPTAttention, as a fused op.
#include "ops/attention/gpt_attention.h"

#include "ops/infer/require.h"

namespace tenon::ops::op_gpt_attention {

Result<Heads> heads_of(const NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  Heads h{a.integer("num_heads", 0), a.integer("num_kv_heads", 0), a.integer("head_size", 0)};
  if (h.keys == 0) h.keys = h.queries;
  constexpr int64_t kMost = 1 << 20;
  const bool positive = h.queries > 0 && h.keys > 0 && h.size > 0, small = h.queries < kMost && h.keys < kMost && h.size < kMost;
  if (positive && small && h.queries % h.keys == 0 && a.number("q_scaling", 1) > 0) return h;
  return refuse(view, Code::bad_attribute, "heads do not fit together")
      .expected("num_heads a multiple of num_kv_heads, head_size and q_scaling positive")
      .found("num_heads=" + std::to_string(h.queries) + ", num_kv_heads=" + std::to_string(h.keys) +
             ", head_size=" + std::to_string(h.size));
}

namespace {

/// Operands and attributes that do not combine.
struct Refusal {
  bool (*applies)(const NodeView& view);
  Code code;
  const char* text;
};
constexpr Refusal kRefused[] = {
    {[](const NodeView& v) { return is_packed(v) && !v.has(kContextLengths); }, Code::bad_graph, "the packed layout needs context_lengths"},
    {[](const NodeView& v) { return is_packed(v) && v.has(kPastKeyValue) && !v.has(kPastLengths); }, Code::bad_graph,
     "past_key_value in the packed layout needs past_lengths"},
    {[](const NodeView& v) { return v.has(kPastLengths) && !v.has(kPastKeyValue); }, Code::bad_graph, "past_lengths needs past_key_value"},
    {[](const NodeView& v) { return v.has(kPastLengths) && !is_packed(v); }, Code::not_supported,
     "not supported yet: past_lengths without packed=1: in a batch all sequences have the past of one length, which past_key_value has"},
    {[](const NodeView& v) { return v.has(kPageTable) && !v.has(kPastLengths); }, Code::bad_graph, "page_table needs past_lengths"},
    {[](const NodeView& v) { return v.has(kWindow) && !is_causal(v); }, Code::not_supported,
     "not supported yet: a window without causal=1: it ends with the query"},
};

Result<void> check_combination(const NodeView& view) {
  for (const Refusal& r : kRefused)
    if (r.applies(view)) return refuse(view, r.code, r.text);
  return {};
}

Result<void> check_rotation(const NodeView& view, const Heads& heads) {
  const ir::Attributes& a = *view.attributes;
  const int64_t type = a.integer("position_embedding_type", 0), scale_type = a.integer("rotary_embedding_scale_type", 0);
  if (type < 0 || type > 2)
    return refuse(view, Code::not_supported, "not supported yet: this position_embedding_type")
        .expected("0 (learned_absolute), 1 (rope_gptj) or 2 (rope_gpt_neox)")
        .found(std::to_string(type));
  if (type == 0) return {};
  if (scale_type < 0 || scale_type > 1)
    return refuse(view, Code::not_supported, "not supported yet: this rotary_embedding_scale_type")
        .expected("0 (none) or 1 (linear)")
        .found(std::to_string(scale_type));
  const int64_t size = a.integer("rotary_embedding_dim", 0);
  if (size >= 2 && size <= heads.size && size % 2 == 0 && a.number("rotary_embedding_base", 10000) > 0 &&
      a.number("rotary_embedding_scale", 1) > 0)
    return {};
  return refuse(view, Code::bad_attribute, "the rotation does not fit the heads")
      .expected("an even rotary_embedding_dim in 2 .. head_size, rotary_embedding_base and rotary_embedding_scale positive")
      .found("rotary_embedding_dim=" + std::to_string(size) + ", head_size=" + std::to_string(heads.size));
}

Result<void> check_types(const NodeView& view) {
  TRY(require_dtype(view, kQkv, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, kQkv, 3));
  TRY(require_rank(view, kPastKeyValue, 5));
  for (size_t k : {kQkvBias, kLognScaling, kContextLengths, kPastLengths}) TRY(require_rank(view, k, 1));
  TRY(require_rank(view, kPageTable, 2));
  TRY(require_rank(view, kWindow, 0, 1));
  TRY(require_single_element(view, kWindow));
  for (size_t k : {kContextLengths, kPastLengths, kPageTable, kWindow}) TRY(require_dtype(view, k, is_index, "i32 or i64"));
  TRY(require_dtype(view, kLognScaling, is_arithmetic_float, "a float type"));
  for (size_t k : {kPastKeyValue, kQkvBias})
    if (view.has(k)) TRY(require_same_dtype(view, kQkv, k));
  if (is_packed(view) && ranks_known(view, {kQkv})) TRY(require_equal(view, view.type(kQkv).dim(0), 1, "first size of a packed qkv and 1"));
  return {};
}

/// Sizes of past_key_value: of a batch, of the sequences of a packed qkv, or of pages.
Result<void> check_past(const NodeView& view, const Heads& heads) {
  if (!ranks_known(view, {kPastKeyValue})) return {};
  const Type& past = view.type(kPastKeyValue);
  const bool is_paged = view.has(kPageTable);
  for (auto [axis, size] : {std::pair<int, int64_t>{1, 2}, {2, heads.keys}, {4, heads.size}})
    TRY(require_equal(view, past.dim(axis), size,
                      is_paged ? "sizes of past_key_value and [pages, 2, num_kv_heads, tokens_per_block, head_size]"
                               : "sizes of past_key_value and [batch, 2, num_kv_heads, length, head_size]"));
  if (const int64_t block = view.attributes->integer("tokens_per_block", 0); is_paged && block > 0)
    TRY(require_equal(view, past.dim(3), block, "rows of a page and tokens_per_block"));
  if (is_paged) TRY(require_at_least(view, past.dim(3), 1, "rows of a page, and one"));
  if (!is_packed(view)) {
    if (!ranks_known(view, {kQkv})) return {};
    return require_equal(view, past.dim(0), view.type(kQkv).dim(0), "batch sizes of past_key_value and qkv");
  }
  if (!ranks_known(view, {kContextLengths})) return {};
  const Dim sequences = view.type(kContextLengths).dim(0);
  TRY(require_sizes(view, kPastLengths, {sequences}));
  if (!is_paged) return require_equal(view, past.dim(0), sequences, "first sizes of past_key_value and context_lengths");
  if (!ranks_known(view, {kPageTable})) return {};
  return require_equal(view, view.type(kPageTable).dim(0), sequences, "first sizes of page_table and context_lengths");
}

/// The shape of present_key_value: one row more for each token of a batch; where rows are scattered, that of the past.
std::optional<DimList> present_shape(const NodeView& view, const Heads& heads) {
  if (view.has(kPastKeyValue) && !ranks_known(view, {kPastKeyValue})) return std::nullopt;
  if (view.has(kPastLengths)) return *view.type(kPastKeyValue).shape;
  const Type& qkv = view.type(kQkv);
  return DimList{qkv.dim(0), 2, heads.keys, view.has(kPastKeyValue) ? qkv.dim(1) + view.type(kPastKeyValue).dim(3) : qkv.dim(1),
                 heads.size};
}

Result<void> infer(NodeView& view) {
  const Heads h = TRY(heads_of(view));
  TRY(check_rotation(view, h));
  TRY(check_combination(view));
  TRY(check_types(view));
  TRY(check_past(view, h));
  if (!(view.attributes->number("attn_logit_softcapping_scale", 0) >= 0))
    return refuse(view, Code::bad_attribute, "attn_logit_softcapping_scale is negative").expected("0, which caps nothing, or above");
  Type out(dtype_of(view, kQkv)), present(dtype_of(view, kQkv));
  if (ranks_known(view, {kQkv})) {
    const Type& qkv = view.type(kQkv);
    TRY(require_equal(view, qkv.dim(2), h.width(), "last size of qkv and (num_heads + 2 * num_kv_heads) * head_size"));
    if (ranks_known(view, {kQkvBias}))
      TRY(require_equal(view, view.type(kQkvBias).dim(0), h.width(), "size of qkv_bias and last size of qkv"));
    out.shape = DimList{qkv.dim(0), qkv.dim(1), h.queries * h.size};
    present.shape = present_shape(view, h);
  }
  set_output(view, 0, std::move(out));
  set_output(view, 1, std::move(present));
  return {};
}

}  // namespace

/// qkv: [batch, tokens, (num_heads + 2 * num_kv_heads) * head_size], Q before K before V. packed: batch is 1, and the sequences, of
/// context_lengths tokens each, are concatenated; else each row of the batch is one sequence, from its first token on, and
/// what follows its end is masked by causality alone. present_key_value: [batch, 2, num_kv_heads, past + tokens, head_size].
///
/// With past_lengths, the packed sequences have a past of that many tokens each, and prompts, chunks of them and single tokens may come
/// together. past_key_value is then [sequences, 2, num_kv_heads, rows, head_size], or with page_table, [sequences, pages of one], the pool
/// [pages, 2, num_kv_heads, tokens_per_block, head_size]; present_key_value is the same with the rows of new tokens written. Lengths that
/// do not sum to the tokens, and rows and pages that are not there, are errors at run (index_out_of_range). Rows that no token has are
/// masked, not skipped: they must be finite. Cost: every query is computed against the rows of each sequence, so that a call of n sequences
/// costs n times what they cost alone (docs/why/057-packed-gpt-attention.md).
///
/// A token's position is past + its place in the sequence: of rotations (position_embedding_type 1: elements 2i and 2i + 1, 2: i and i +
/// rotary_embedding_dim / 2; angle position / scale * base^(-2i / dim); K is kept rotated) and of logn_scaling, element t of which
/// multiplies the query at position t. window, one number: a query sees that many keys, its own counted. Scores s are divided by q_scaling
/// * sqrt(head_size), then attn_logit_softcapping_scale c makes them c * tanh(s / c). Source: TensorRT-LLM,
/// cpp/tensorrt_llm/plugins/gptAttentionPlugin and kernels/decoderMaskedMultiheadAttention, of 2024 to 2026.
OP(gpt_attention) {
    .name = "GPTAttention",
    .domain = "tenon",
    .since_version = 1,
    .inputs = {{"qkv", "context_lengths?", "past_key_value?", "qkv_bias?", "past_lengths?", "page_table?", "window?", "logn_scaling?"}},
    .outputs = {{"output", "present_key_value?"}},
    .attributes = {{"attn_logit_softcapping_scale: float", "causal: int = 1", "head_size: int", "num_heads: int", "num_kv_heads: int = 0",
                    "packed: int = 0", "position_embedding_type: int = 0", "q_scaling: float = 1.0",
                    "rotary_embedding_base: float = 10000.0", "rotary_embedding_dim: int", "rotary_embedding_scale: float = 1.0",
                    "rotary_embedding_scale_type: int = 0", "tokens_per_block: int"}},
    .infer = infer,
    .definition = define,
    .first_opset = 1,
    .samples =
        {{"f32[2,5,24]; num_heads=2, head_size=4", "f32[2,5,32], i32[2] = [3, 5], _, f32[32]; num_heads=4, num_kv_heads=2, head_size=4",
          "f32[1,8,24], i32[3] = [3, 1, 4]; num_heads=2, head_size=4, packed=1, outputs=2",
          "f32[1,7,24], i64[2] = [2, 3], _, f32[24]; num_heads=2, head_size=4, packed=1, q_scaling=2.0",
          "f32[2,3,24], _, f32[2,2,2,4,4]; num_heads=2, head_size=4, outputs=2", "f16[1,4,12]; num_heads=1, head_size=4, causal=0",
          "f32[2,3,32], _, f32[2,2,2,4,4], _, _, _, i32[1] = [3]; num_heads=4, num_kv_heads=2, head_size=4, "
          "position_embedding_type=2, rotary_embedding_dim=4, attn_logit_softcapping_scale=2.0, outputs=2",
          "f32[1,6,32], i64[2] = [1, 5], f32[4,2,2,4,4], f32[32], i64[2] = [6, 2], i32[2,3] = [2, 0, -1, 3, 1, 0], i64[] = 4, f32[9]; "
          "num_heads=4, num_kv_heads=2, head_size=4, packed=1, tokens_per_block=4, position_embedding_type=1, rotary_embedding_dim=2, "
          "rotary_embedding_scale_type=1, rotary_embedding_scale=2.0, outputs=2"}},
};

}  // namespace tenon::ops::op_gpt_attention
