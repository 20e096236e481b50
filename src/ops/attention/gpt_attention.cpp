// SPDX-License-Identifier: Apache-2.0
// Self-attention of a decoder over one packed projection: what TensorRT-LLM keeps in its plugin GPTAttention, as a fused op.
#include <cmath>

#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_gpt_attention {

namespace {

enum Input : size_t { kQkv, kLengths, kPast, kBias };

/// The numbers of heads of Q and of K and V, and the elements of a head.
struct Heads {
  int64_t queries, keys, size;
  int64_t width() const { return (queries + 2 * keys) * size; }
};

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

bool is_packed(const NodeView& view) { return view.attributes->integer("packed", 0) != 0; }

Result<void> check_packed(const NodeView& view) {
  if (!is_packed(view)) return {};
  if (!view.has(kLengths)) return refuse(view, Code::bad_graph, "the packed layout needs context_lengths");
  if (view.has(kPast)) return refuse(view, Code::not_supported, "not supported yet: past_key_value in the packed layout");
  if (view.rank(kQkv) == 3) TRY(require_equal(view, view.type(kQkv).dim(0), 1, "first size of a packed qkv and 1"));
  return {};
}

Result<void> infer(NodeView& view) {
  const Heads h = TRY(heads_of(view));
  TRY(require_dtype(view, kQkv, is_real_arithmetic, "a float type"));
  TRY(require_rank(view, kQkv, 3));
  TRY(require_dtype(view, kLengths, is_index, "i32 or i64"));
  TRY(require_rank(view, kLengths, 1));
  TRY(require_rank(view, kPast, 5));
  TRY(require_rank(view, kBias, 1));
  for (size_t k : {kPast, kBias})
    if (view.has(k)) TRY(require_same_dtype(view, kQkv, k));
  TRY(check_packed(view));
  Type out(dtype_of(view, kQkv)), present(dtype_of(view, kQkv));
  if (ranks_known(view, {kQkv})) {
    const Type& qkv = view.type(kQkv);
    TRY(require_equal(view, qkv.dim(2), h.width(), "last size of qkv and (num_heads + 2 * num_kv_heads) * head_size"));
    if (ranks_known(view, {kBias})) TRY(require_equal(view, view.type(kBias).dim(0), h.width(), "size of qkv_bias and last size of qkv"));
    out.shape = DimList{qkv.dim(0), qkv.dim(1), h.queries * h.size};
    Dim length = qkv.dim(1);
    if (ranks_known(view, {kPast})) {
      const Type& past = view.type(kPast);
      TRY(require_equal(view, past.dim(0), qkv.dim(0), "batch sizes of past_key_value and qkv"));
      for (auto [axis, size] : {std::pair<int, int64_t>{1, 2}, {2, h.keys}, {4, h.size}})
        TRY(require_equal(view, past.dim(axis), size, "sizes of past_key_value and [batch, 2, num_kv_heads, length, head_size]"));
      length = length + past.dim(3);
    }
    if (ranks_known(view, {kPast}) || !view.has(kPast)) present.shape = DimList{qkv.dim(0), 2, h.keys, length, h.size};
  }
  set_output(view, 0, std::move(out));
  set_output(view, 1, std::move(present));
  return {};
}

/// bool[tokens, tokens]: whether two tokens belong to one sequence. Tokens after the last sequence count as a sequence.
ir::ValueId same_sequence(ir::Builder& build, ir::ValueId qkv, ir::ValueId lengths) {
  const ir::ValueId place = build("Unsqueeze", {iota(build, size_of(build, qkv, 1)), build.ints({1})});
  const ir::ValueId ends = build("CumSum", {cast_to(build, lengths, DType::i64), build.scalar(DType::i64, 0)});
  const ir::ValueId ended = cast_to(build, build("GreaterOrEqual", {place, ends}), DType::i64);
  const ir::ValueId sequence = build("ReduceSum", {ended, build.ints({1})}, {{"keepdims", int64_t{1}}});  // [tokens, 1]
  return build("Equal", {sequence, transposed(build, sequence, {1, 0})});
}

/// K (0) or V (1) of past_key_value: [batch, heads, length, size].
ir::ValueId slice_past(ir::Builder& build, ir::ValueId past, int64_t which) {
  return squeezed(build, sliced(build, past, 1, which, which + 1), 1);
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const auto heads = heads_of(view);
  if (!heads) return {};
  const auto [queries, keys, size] = *heads;
  ir::ValueId qkv = in[kQkv];
  if (view.has(kBias)) qkv = build("Add", {qkv, in[kBias]});
  std::vector<ir::ValueId> operands(7);
  operands[0] = sliced(build, qkv, 2, 0, queries * size);
  operands[1] = sliced(build, qkv, 2, queries * size, (queries + keys) * size);
  operands[2] = sliced(build, qkv, 2, (queries + keys) * size, heads->width());
  if (is_packed(view)) operands[3] = same_sequence(build, in[kQkv], in[kLengths]);
  if (view.has(kPast)) {
    operands[4] = slice_past(build, in[kPast], 0);
    operands[5] = slice_past(build, in[kPast], 1);
  }
  while (!operands.back()) operands.pop_back();
  const double scale = 1 / (view.attributes->number("q_scaling", 1) * std::sqrt(static_cast<double>(size)));
  const bool wants_cache = view.outputs.size() > 1;
  const auto y = build.many("Attention", operands, wants_cache ? 3 : 1,
                            {{"is_causal", view.attributes->integer("causal", 1)},
                             {"kv_num_heads", keys},
                             {"q_num_heads", queries},
                             {"scale", static_cast<float>(scale)}});
  if (!wants_cache) return {y[0]};
  const ir::ValueId axis = build.ints({1});
  return {y[0], build("Concat", {build("Unsqueeze", {y[1], axis}), build("Unsqueeze", {y[2], axis})}, {{"axis", int64_t{1}}})};
}

}  // namespace

/// qkv: [batch, tokens, (num_heads + 2 * num_kv_heads) * head_size], Q before K before V. packed: batch is 1, and the sequences, of
/// context_lengths tokens each, are concatenated; else each row of the batch is one sequence, from its first token on, and
/// what follows its end is masked by causality alone. present_key_value: [batch, 2, num_kv_heads, past + tokens, head_size].
OP(gpt_attention) {
    .name = "GPTAttention",
    .domain = "tenon",
    .since_version = 1,
    .inputs = {{"qkv", "context_lengths?", "past_key_value?", "qkv_bias?"}},
    .outputs = {{"output", "present_key_value?"}},
    .attributes = {{"causal: int = 1", "head_size: int", "num_heads: int", "num_kv_heads: int = 0", "packed: int = 0",
                    "q_scaling: float = 1.0"}},
    .infer = infer,
    .definition = define,
    .first_opset = 1,
    .samples = {{"f32[2,5,24]; num_heads=2, head_size=4",
                 "f32[2,5,32], i32[2] = [3, 5], _, f32[32]; num_heads=4, num_kv_heads=2, head_size=4",
                 "f32[1,8,24], i32[3] = [3, 1, 4]; num_heads=2, head_size=4, packed=1, outputs=2",
                 "f32[1,7,24], i64[2] = [2, 3], _, f32[24]; num_heads=2, head_size=4, packed=1, q_scaling=2.0",
                 "f32[2,3,24], _, f32[2,2,2,4,4]; num_heads=2, head_size=4, outputs=2", "f16[1,4,12]; num_heads=1, head_size=4, causal=0"}},
};

}  // namespace tenon::ops::op_gpt_attention
