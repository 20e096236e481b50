// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/scores.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_attention {

namespace {

Result<void> infer(NodeView& view) {
  for (size_t k : {kQuery, kKey, kValue, kPastKey, kPastValue})
    if (view.has(k)) TRY(require_dtype(view, k, is_arithmetic_float, "a float type"));
  TRY(require_same_dtype(view, kQuery, kKey));
  TRY(require_dtype(view, kMask, [](DType d) { return d == DType::boolean || is_number(d); }, "bool or a number type"));
  TRY(require_dtype(view, kNonpad, is_index, "i64"));
  if (view.has(kPastKey) != view.has(kPastValue)) {
    return refuse(view, Code::bad_graph, "past_key and past_value belong together").advice("give both or none");
  }
  if (!masked_rows_of(*view.attributes))
    return refuse(view, Code::bad_attribute, "masked_rows says something else").expected("zero, nan or clean");
  if (view.has(kNonpad) && view.has(kPastKey))
    return refuse(view, Code::bad_graph, "nonpad_kv_seqlen cannot be combined with past_key and past_value");
  const auto known = TRY(attention_sizes(view));
  Type out(dtype_of(view, kQuery)), key(dtype_of(view, kKey)), value(dtype_of(view, kValue)), scores(dtype_of(view, kQuery));
  if (known) {
    const AttentionSizes& s = *known;
    if (s.split) out.shape = DimList{s.batch, s.queries, s.query_heads * s.value_size};
    else out.shape = DimList{s.batch, s.query_heads, s.queries, s.value_size};
    key.shape = DimList{s.batch, s.heads, s.total, s.size};
    value.shape = DimList{s.batch, s.heads, s.total, s.value_size};
    scores.shape = DimList{s.batch, s.query_heads, s.queries, s.total};
  }
  set_output(view, 0, std::move(out));
  set_output(view, 1, std::move(key));
  set_output(view, 2, std::move(value));
  set_output(view, 3, std::move(scores));
  return {};
}

/// ONNX has `masked_rows` = zero only; nodes with another value are exported as a function of plain ops.
int lowest_opset(const NodeView& view) {
  constexpr int kNone = 1 << 20;
  const ir::Attributes& a = *view.attributes;
  if (masked_rows_of(a) != MaskedRows::zero) return kNone;
  if (a.integer("left_window_size", -1) >= 0 || a.integer("right_window_size", -1) >= 0) return 25;
  return view.has(kNonpad) ? 24 : 23;
}

Result<void> downgrade(ir::Graph& graph, ir::NodeId node, int) {
  graph.erase_attribute(node, "left_window_size");
  graph.erase_attribute(node, "right_window_size");
  graph.erase_attribute(node, "masked_rows");
  return {};
}

}  // namespace

OP(attention) {
    .name = "Attention",
    .since_version = 25,
    .inputs = {{"Q", "K", "V", "attn_mask?", "past_key?", "past_value?", "nonpad_kv_seqlen?"}},
    .outputs = {{"Y", "present_key?", "present_value?", "qk_matmul_output?"}},
    .attributes = {{"is_causal: int = 0", "kv_num_heads: int", "left_window_size: int = -1", "masked_rows: string = zero",
                    "q_num_heads: int", "qk_matmul_output_mode: int = 0", "right_window_size: int = -1", "scale: float",
                    "softcap: float = 0.0", "softmax_precision: int"}},
    .kernel_family = KernelFamily::attention,
    .infer = infer,
    .reference = evaluate_attention,
    .definition = define_attention,
    .lowest_opset = lowest_opset,
    .first_opset = 23,
    .downgrade = downgrade,
    .samples =
        {{"f32[2,3,4,8], f32[2,3,6,8], f32[2,3,6,8]", "f32[2,3,4,8], f32[2,3,6,8], f32[2,3,6,10], f32[4,6]",
          "f32[2,3,4,8], f32[2,3,6,8], f32[2,3,6,8], bool[2,1,4,6]", "f32[2,4,24], f32[2,6,24], f32[2,6,24]; q_num_heads=3, kv_num_heads=3",
          "f32[2,9,4,8], f32[2,3,6,8], f32[2,3,6,8]; is_causal=1",
          "f32[2,4,72], f32[2,6,24], f32[2,6,30]; q_num_heads=9, kv_num_heads=3, softcap=2.0, scale=0.1",
          "f32[1,2,3,4], f32[1,2,3,4], f32[1,2,3,4], f32[3,8], f32[1,2,5,4], f32[1,2,5,4]; outputs=4, is_causal=1, qk_matmul_output_mode=2",
          "f32[2,2,3,4], f32[2,2,6,4], f32[2,2,6,4], _, _, _, i64[2] = [4, 6]; is_causal=1",
          "f16[1,2,5,8], f16[1,2,5,8], f16[1,2,5,8]; is_causal=1, softmax_precision=1",
          "f32[1,1,5,4], f32[1,1,5,4], f32[1,1,5,4]; left_window_size=1, right_window_size=1",
          "f64[1,2,3,4], f64[1,2,3,4], f64[1,2,3,4], bool[3,3] = [0,0,0,1,0,1,1,1,1]; outputs=4, qk_matmul_output_mode=3",
          "f32[1,2,3,4], f32[1,2,6,4], f32[1,2,6,4], f32[3,4], _, _, i64[1] = [4]",
          "f32[1,2,3,4], f32[1,2,3,4], f32[1,2,3,4], bool[3,3] = [0,0,0,1,0,1,1,1,1]; masked_rows=nan",
          "f32[1,2,3,4], f32[1,2,3,4], f32[1,2,3,4], bool[3,3] = [0,0,0,1,0,1,1,1,1]",
          "f32[1,1,3,4], f32[1,1,2,4], f32[1,1,2,4], f32[3,2] = [-inf,-inf,nan,0,inf,1]; masked_rows=clean",
          "f32[1,1,3,4], f32[1,1,2,4], f32[1,1,2,4], f32[3,2] = [-inf,-inf,nan,0,inf,1]; masked_rows=nan",
          "f32[1,1,3,4], f32[1,1,2,4], f32[1,1,2,4], f32[3,2] = [-inf,-inf,nan,0,inf,1]",
          "f64[1,1,3,4], f64[1,1,2,4], f64[1,1,2,4], f64[3,2] = [-inf,-inf,nan,0,inf,1]; masked_rows=clean"}},
};

}  // namespace tenon::ops::op_attention
