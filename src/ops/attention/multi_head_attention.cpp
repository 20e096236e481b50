// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/heads.h"
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_multi_head_attention {

namespace {

enum Input : size_t { kQuery, kKey, kValue, kBias, kPadding, kScores, kPastKey, kPastValue, kPastLength, kBeams };

/// The inputs of the attention. Query is [batch, sequence, heads * size]; key and value are too, or [batch, heads, sequence, size].
struct Operands {
  ir::ValueId query, key, value;
  bool apart = false;  ///< key and value have an axis of heads
};

/// Part `k` of axis 3 of [batch, sequence, heads, parts, size], as [batch, sequence, heads * size].
ir::ValueId packed_part(ir::Builder& build, ir::ValueId packed, int64_t k) {
  return build("Reshape", {squeezed(build, sliced(build, packed, 3, k, k + 1), 3), build.ints({0, 0, -1})});
}

Operands operands_of(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (view.rank(kQuery) == 5)
    return {packed_part(build, in[kQuery], 0), packed_part(build, in[kQuery], 1), packed_part(build, in[kQuery], 2)};
  if (view.rank(kKey) == 5) return {in[kQuery], packed_part(build, in[kKey], 0), packed_part(build, in[kKey], 1)};
  return {in[kQuery], in[kKey], in[kValue], view.rank(kKey) == 4};
}

/// Adds to query, key and value their parts of the bias; those with an axis of heads include it already.
void add_bias(ir::Builder& build, ir::ValueId bias, Operands& operands) {
  int64_t begin = 0;
  for (ir::ValueId* x : {&operands.query, &operands.key, &operands.value}) {
    if (x != &operands.query && operands.apart) return;
    if (!*x) return;
    const ir::Type& type = build.graph().value(*x).type;
    const int64_t end = begin + type.dim(2).value();
    *x = build("Add", {*x, sliced(build, bias, 0, begin, end)});
    begin = end;
  }
}

/// Checks ranks, and the widths by which the bias is split.
bool sizes_known(const NodeView& view) {
  for (size_t k : {kQuery, kKey, kValue, kPadding})
    if (view.has(k) && !view.type(k).has_rank()) return false;
  for (size_t k : {kQuery, kKey, kValue}) {
    if (!view.has(k) || !view.has(kBias)) continue;
    for (int axis = 2; axis < view.rank(k); ++axis)
      if (view.rank(k) != 4 && !view.type(k).dim(axis).is_number()) return false;
  }
  return true;
}

/// The bias that the mask of keys adds to the scores.
ir::ValueId mask_bias(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in, const Operands& operands) {
  const DType dtype = view.type(kQuery).dtype;
  const double filter = view.attributes->number("mask_filter_value", -10000);
  if (view.rank(kPadding) > 1) return padding_scores(build, in[kPadding], view, kPadding, dtype, filter);
  ir::ValueId keys = size_of(build, operands.key, operands.apart ? 2 : 1);
  if (view.has(kPastKey)) keys = build("Add", {keys, size_of(build, in[kPastKey], 2)});
  return length_scores(build, in[kPadding], view, kPadding, size_of(build, in[kQuery], 0), keys, dtype, filter);
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!sizes_known(view)) return {};
  const ir::Attributes& a = *view.attributes;
  const int64_t heads = a.integer("num_heads", 1);
  Operands operands = operands_of(build, view, in);
  if (view.has(kBias)) add_bias(build, in[kBias], operands);
  ir::ValueId scores = view.has(kScores) ? in[kScores] : ir::ValueId{};
  if (view.has(kPadding)) {
    const ir::ValueId padding = mask_bias(build, view, in, operands);
    scores = scores ? build("Add", {scores, padding}) : padding;
  }
  std::vector<std::pair<std::string, ir::Attribute>> how{{"is_causal", a.integer("unidirectional", 0)}};
  if (view.has(kScores)) how.emplace_back("masked_rows", std::string("nan"));
  if (a.number("scale", 0) != 0) how.emplace_back("scale", a.number("scale", 0));
  if (operands.apart) {
    operands.query = split_heads(build, operands.query, heads);
  } else {
    how.emplace_back("kv_num_heads", heads);
    how.emplace_back("q_num_heads", heads);
  }
  std::vector<ir::ValueId> given{operands.query, operands.key, operands.value, scores};
  for (size_t k : {kPastKey, kPastValue})
    if (view.has(k)) given.push_back(in[k]);
  std::vector<ir::ValueId> out = build.many("Attention", given, view.outputs.size(), std::move(how));
  if (operands.apart && !out.empty()) out[0] = merge_heads(build, out[0]);
  return out;
}

Error unsupported(const NodeView& view, std::string what, std::string expected, std::string found) {
  return refuse(view, Code::not_supported, "not supported yet: " + std::move(what)).expected(std::move(expected)).found(std::move(found));
}

/// Checks the ranks: query alone of rank 5; query with a key of rank 5; or all three, with key and value of one rank.
Result<void> check_forms(const NodeView& view) {
  TRY(require_rank(view, kQuery, 3, 5));
  const auto is = [&](size_t k, int rank) { return view.has(k) && view.type(k).has_rank() && view.rank(k) == rank; };
  if (is(kQuery, 4))
    return refuse(view, Code::rank_mismatch, "query has another rank").expected("3, or 5 where it holds key and value").found("4");
  if (is(kQuery, 5) && !view.has(kKey) && !view.has(kValue)) return {};
  if (is(kQuery, 5) || !view.has(kKey))
    return refuse(view, Code::bad_graph, "query holds key and value, or they are given").expected("query of rank 5 alone, or with a key");
  TRY(require_rank(view, kKey, 3, 5));
  if (is(kKey, 5) != !view.has(kValue))
    return refuse(view, Code::bad_graph, "key holds value, or it is given")
        .expected("a key of rank 5 alone, or of rank 3 or 4 with a value");
  if (view.has(kValue) && ranks_known(view, {kKey, kValue})) TRY(require_rank(view, kValue, view.rank(kKey)));
  return {};
}

Result<void> infer(NodeView& view) {
  for (const auto& [k, name] : {std::pair(kPastLength, "past_sequence_length"), std::pair(kBeams, "cache_indirection")})
    if (view.has(k)) return unsupported(view, name, "no such operand", "one");
  if (view.outputs.size() > 3) return unsupported(view, "the scores as a result (qk)", "3 results", std::to_string(view.outputs.size()));
  if (view.attributes->integer("num_heads", 0) < 1)
    return refuse(view, Code::bad_attribute, "num_heads must be positive").found(std::to_string(view.attributes->integer("num_heads", 0)));
  TRY(check_forms(view));
  if (view.has(kPadding)) TRY(require_rank(view, kPadding, 1, 3));
  if (view.has(kPadding) && ranks_known(view, {kQuery, kPadding}) && view.rank(kPadding) == 1 && !counts_keys(view, kPadding))
    return unsupported(view, "a key_padding_mask of this size", "batch or 3 * batch + 2 elements", view.type(kPadding).text());
  return infer_by_definition(view);
}

}  // namespace

OP(multi_head_attention) {
    .name = "MultiHeadAttention",
    .domain = "com.microsoft",
    .inputs = {{"query", "key?", "value?", "bias?", "key_padding_mask?", "attention_bias?", "past_key?", "past_value?",
                "past_sequence_length?", "cache_indirection?"}},
    .outputs = {{"output", "present_key?", "present_value?", "qk?"}},
    .attributes = {{"mask_filter_value: float", "num_heads: int!", "scale: float", "unidirectional: int = 0"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[2,4,24], f32[2,6,24], f32[2,6,24]; num_heads=3",
                 "f32[2,4,24], f32[2,6,24], f32[2,6,30], f32[78], _, f32[1,1,4,6]; num_heads=3, scale=0.5",
                 "f32[2,4,24], f32[2,4,24], f32[2,4,24], f32[72], i32[2,4] = [1,1,1,0,1,1,0,0]; num_heads=3, unidirectional=1",
                 "f32[1,2,8], f32[1,2,8], f32[1,2,8], _, _, _, f32[1,2,3,4], f32[1,2,3,4]; num_heads=2, outputs=3",
                 "f32[2,4,3,3,8]; num_heads=3", "f32[2,4,24], f32[2,5,3,2,8], _, f32[72]; num_heads=3",
                 "f32[2,4,24], f32[2,3,6,8], f32[2,3,6,8], _, i32[2] = [6, 4]; num_heads=3",
                 "f32[2,4,24], f32[2,3,6,8], f32[2,3,6,8], f32[72]; num_heads=3",
                 "f32[2,4,24], f32[2,6,24], f32[2,6,24], _, i32[8] = [6, 4, 0, 6, 10, 0, 4, 8]; num_heads=3",
                 "f32[2,4,24], f32[2,4,24], f32[2,4,24], _, i32[2,4,4] in 0..1; num_heads=3"}},
};

}  // namespace tenon::ops::op_multi_head_attention
