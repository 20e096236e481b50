// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/group_query_attention.h"

#include <cmath>

#include "ops/attention/grouped_cache.h"
#include "ops/attention/heads.h"
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_group_query_attention {

namespace {

enum Input : size_t {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLast,
  kTotal,
  kCosine,
  kSine,
  kPositions,
  kScores,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm
};

/// Builds the definition of one node step by step. Query, key and value are [batch, sequence, heads * size] up to the attention itself.
class Definition {
 public:
  Definition(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in)
      : build_(build), view_(view), in_(in), heads_(attribute("num_heads")), groups_(attribute("kv_num_heads")) {}

  std::vector<ir::ValueId> run() {
    if (!split()) return {};
    last_ = build_("Reshape", {cast_to(build_, in_[kLast], DType::i64), build_.ints({-1, 1})});
    normalise(query_, heads_, kQueryNorm);
    normalise(key_, groups_, kKeyNorm);
    return view_.has(kPastKey) ? with_cache() : without_cache();
  }

  /// run() for new tokens that follow all rows of the past: the operands with lengths are not read.
  std::vector<ir::ValueId> run_appending() {
    if (!view_.has(kPastKey) || !is_causal() || !split()) return {};
    normalise(query_, heads_, kQueryNorm);
    normalise(key_, groups_, kKeyNorm);
    const ir::ValueId offset = build_("Reshape", {size_of(build_, in_[kPastKey], 2), build_.ints({1, 1})});
    rotate(offset);
    const ir::ValueId key = appended(kPastKey, key_), value = appended(kPastValue, value_);
    return attended(key, value, visible(offset, size_of(build_, key, 2)));
  }

 private:
  int64_t attribute(const char* name) const { return view_.attributes->integer(name, 0); }

  /// Splits packed query, key and value. Returns false where a size is not known.
  bool split() {
    if (view_.has(kKey)) {
      query_ = in_[kQuery];
      key_ = in_[kKey];
      value_ = in_[kValue];
      return ranks_known(view_, {kQuery, kKey, kValue});
    }
    if (!ranks_known(view_, {kQuery}) || !view_.type(kQuery).dim(2).is_number()) return false;
    const int64_t size = view_.type(kQuery).dim(2).value() / (heads_ + 2 * groups_);
    const auto parts =
        build_.many("Split", {in_[kQuery], build_.ints({heads_ * size, groups_ * size, groups_ * size})}, 3, {{"axis", int64_t{2}}});
    query_ = parts[0];
    key_ = parts[1];
    value_ = parts[2];
    return true;
  }

  /// Normalises each head by its root mean square.
  void normalise(ir::ValueId& x, int64_t heads, size_t weight) {
    if (!view_.has(weight)) return;
    const ir::ValueId apart = build_("Reshape", {x, build_.ints({0, 0, heads, -1})});
    const ir::ValueId normal = build_("RMSNormalization", {apart, in_[weight]},
                                      {{"axis", int64_t{-1}}, {"epsilon", view_.attributes->number("qk_norm_epsilon", 1e-6)}});
    x = build_("Reshape", {normal, build_.ints({0, 0, -1})});
  }

  /// first: the position of each sequence's first token, i64[batch, 1].
  void rotate(ir::ValueId first) {
    if (attribute("do_rotary") == 0) return;
    const ir::ValueId counted = build_("Add", {first, iota(build_, size_of(build_, query_, 1))});
    const ir::ValueId positions = view_.has(kPositions) ? in_[kPositions] : counted;
    const int64_t rotated = 2 * view_.type(kCosine).dim(1).value();
    for (auto [x, heads] : {std::pair(&query_, heads_), std::pair(&key_, groups_)})
      *x = build_("RotaryEmbedding", {*x, in_[kCosine], in_[kSine], positions},
                  {{"interleaved", attribute("rotary_interleaved")}, {"num_heads", heads}, {"rotary_embedding_dim", rotated}});
  }

  bool has_sink() const { return view_.has(kSink) || view_.attributes->integer("smooth_softmax", -1) == 1; }
  bool is_causal() const { return view_.attributes->integer("causal", 1) != 0; }

  std::vector<ir::ValueId> without_cache() {
    const ir::ValueId zeros = build_("Sub", {last_, last_});
    rotate(zeros);
    if (has_sink()) {
      const ir::ValueId key = split_heads(build_, key_, groups_), value = split_heads(build_, value_, groups_);
      return attended(key, value, visible(zeros, size_of(build_, key_, 1)));
    }
    ir::ValueId mask = end_scores();
    if (view_.has(kScores)) mask = build_("Add", {mask, in_[kScores]});
    const int64_t window = view_.attributes->integer("local_window_size", -1);
    auto how = numbers();
    how.emplace_back("is_causal", view_.attributes->integer("causal", 1));
    how.emplace_back("kv_num_heads", groups_);
    how.emplace_back("left_window_size", window > 0 ? window - 1 : int64_t{-1});
    how.emplace_back("q_num_heads", heads_);
    return build_.many("Attention", {query_, key_, value_, mask}, view_.outputs.size(), std::move(how));
  }

  std::vector<ir::ValueId> with_cache() {
    const ir::ValueId total = build_("Reshape", {cast_to(build_, in_[kTotal], DType::i64), build_.ints({})});
    const GroupedCache cache(build_, query_, in_[kPastKey], last_, total);
    rotate(cache.offset());
    const ir::ValueId key = cache.joined(in_[kPastKey], split_heads(build_, key_, groups_));
    const ir::ValueId value = cache.joined(in_[kPastValue], split_heads(build_, value_, groups_));
    return attended(key, value, visible(cache.offset(), cache.size()));
  }

  ir::ValueId appended(size_t past, ir::ValueId rows) const {
    return build_("Concat", {in_[past], split_heads(build_, rows, groups_)}, {{"axis", int64_t{2}}});
  }

  /// Bias of the scores, [batch, 1, 1, keys]: 0 for keys of the sequence, -inf after its end.
  ir::ValueId end_scores() const {
    const ir::ValueId positions = iota(build_, size_of(build_, key_, 1));
    const ir::ValueId last = build_("Unsqueeze", {last_, build_.ints({1, 2})});
    return scores_of(build_("LessOrEqual", {positions, last}));
  }

  ir::ValueId scores_of(ir::ValueId seen) const {
    const DType dtype = view_.type(kQuery).dtype;
    return build_("Where", {seen, build_.scalar(dtype, 0), build_.scalar(dtype, -INFINITY)});
  }

  /// Bias of the scores, [batch, 1, queries, keys]: 0 for keys of the sequence up to the query and within its window, else -inf; plus the
  /// operand attention_bias. Where all keys are of the sequence and nothing is added: a mask, bool.
  ir::ValueId visible(ir::ValueId offset, ir::ValueId keys) const {
    const ir::ValueId positions = iota(build_, keys);
    const ir::ValueId rows = build_("Add", {offset, iota(build_, size_of(build_, query_, 1))});
    const ir::ValueId row = build_("Unsqueeze", {rows, build_.ints({1, 3})});
    ir::ValueId seen = last_ ? build_("LessOrEqual", {positions, build_("Unsqueeze", {last_, build_.ints({1, 2})})}) : ir::ValueId{};
    if (is_causal()) {
      const ir::ValueId before = build_("LessOrEqual", {positions, row});
      seen = seen ? build_("And", {seen, before}) : before;
    }
    if (const int64_t window = view_.attributes->integer("local_window_size", -1); window > 0)
      seen = build_("And",
                    {seen, build_("Greater", {positions, build_("Sub", {row, build_.scalar(DType::i64, static_cast<double>(window))})})});
    if (!last_ && !view_.has(kScores) && !has_sink()) return seen;
    const ir::ValueId scores = scores_of(seen);
    return view_.has(kScores) ? build_("Add", {scores, widened(in_[kScores], keys)}) : scores;
  }

  /// The operand attention_bias, which ends with the longest sequence, padded to the length of the cache.
  ir::ValueId widened(ir::ValueId scores, ir::ValueId keys) const {
    const ir::ValueId more = build_("Sub", {build_("Unsqueeze", {keys, build_.ints({0})}), shape_of(build_, scores, 3, 4)});
    return build_("Pad", {scores, build_("Concat", {build_.ints({0, 0, 0, 0, 0, 0, 0}), more}, {{"axis", int64_t{0}}})});
  }

  /// Appends a key and value of zeros, whose score is the sink of the head: it takes weight and adds nothing.
  void add_sink(ir::ValueId& key, ir::ValueId& value, ir::ValueId& mask) const {
    const auto padded = [&](ir::ValueId x) { return build_("Pad", {x, build_.ints({0, 0, 0, 0, 0, 0, 1, 0})}); };
    key = padded(key);
    value = padded(value);
    const DType dtype = view_.type(kQuery).dtype;
    const ir::ValueId sink = view_.has(kSink) ? build_("Reshape", {cast_to(build_, in_[kSink], dtype), build_.ints({1, -1, 1, 1})})
                                              : build_("Reshape", {build_.scalar(dtype, 0), build_.ints({1, 1, 1, 1})});
    const ir::ValueId rows = build_("Slice", {mask, build_.ints({0}), build_.ints({1}), build_.ints({3})});
    const ir::ValueId heads = build_("Expand", {sink, build_("Shape", {rows})});
    const ir::ValueId spread = build_(
        "Expand", {mask, build_("Concat", {build_.ints({1}), shape_of(build_, heads, 1, 2), build_.ints({1, 1})}, {{"axis", int64_t{0}}})});
    mask = build_("Concat", {spread, heads}, {{"axis", int64_t{3}}});
  }

  std::vector<std::pair<std::string, ir::Attribute>> numbers() const {
    std::vector<std::pair<std::string, ir::Attribute>> out{{"softcap", view_.attributes->number("softcap", 0)}};
    if (view_.attributes->number("scale", 0) != 0) out.emplace_back("scale", view_.attributes->number("scale", 0));
    return out;
  }

  std::vector<ir::ValueId> attended(ir::ValueId key, ir::ValueId value, ir::ValueId mask) {
    std::vector<ir::ValueId> out{{}, key, value};
    if (has_sink()) add_sink(key, value, mask);
    out[0] = merge_heads(build_, build_("Attention", {split_heads(build_, query_, heads_), key, value, mask}, numbers()));
    out.resize(view_.outputs.size());
    return out;
  }

  ir::Builder& build_;
  const NodeView& view_;
  std::span<const ir::ValueId> in_;
  const int64_t heads_, groups_;
  ir::ValueId query_, key_, value_;
  ir::ValueId last_;  ///< the last place of each sequence: i64[batch, 1]; none: that of the cache, for all
};

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  return Definition(build, view, in).run();
}

Error unsupported(const NodeView& view, std::string what, std::string expected, std::string found) {
  return refuse(view, Code::not_supported, "not supported yet: " + std::move(what)).expected(std::move(expected)).found(std::move(found));
}

Result<void> check_supported(const NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  for (const char* name : {"k_quant_type", "v_quant_type"})
    if (const std::string type = a.text(name, "NONE"); type != "NONE")
      return unsupported(view, std::string("a quantized cache (") + name + ")", "NONE", type);
  for (size_t k : {kKeyScale, kValueScale})
    if (view.has(k)) return unsupported(view, "a quantized cache (k_scale, v_scale)", "neither operand", "one");
  if (view.outputs.size() > 3 || a.integer("qk_output", 0) != 0)
    return unsupported(view, "the scores as a result (output_qk)", "qk_output=0 and 3 results",
                       std::to_string(view.outputs.size()) + " results");
  if (a.integer("sliding_window_cache", 0) != 0) return unsupported(view, "sliding_window_cache", "0", "1");
  return {};
}

Result<void> check_operands(const NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  const int64_t heads = a.integer("num_heads", 0), groups = a.integer("kv_num_heads", 0);
  if (heads < 1 || groups < 1 || heads % groups != 0)
    return refuse(view, Code::bad_attribute, "num_heads must be a multiple of kv_num_heads")
        .found(std::to_string(heads) + " and " + std::to_string(groups));
  if (view.has(kKey) != view.has(kValue) || view.has(kPastKey) != view.has(kPastValue))
    return refuse(view, Code::bad_graph, "key and value, and past_key and past_value, belong together").advice("give both or none");
  for (size_t k : {kQuery, kKey, kValue})
    if (view.has(k)) TRY(require_rank(view, k, 3));
  for (size_t k : {kPastKey, kPastValue})
    if (view.has(k)) TRY(require_rank(view, k, 4));
  if (a.integer("do_rotary", 0) == 0) return {};
  if (!view.has(kCosine) || !view.has(kSine))
    return refuse(view, Code::bad_graph, "do_rotary needs cos_cache and sin_cache").advice("give both, or do_rotary=0");
  for (size_t k : {kCosine, kSine}) TRY(require_rank(view, k, 2));
  if (view.type(kCosine).has_rank() && !view.type(kCosine).dim(1).is_number())
    return unsupported(view, "cos_cache of unknown width", "a number", view.type(kCosine).text());
  return {};
}

Result<void> infer(NodeView& view) {
  TRY(check_supported(view));
  TRY(check_operands(view));
  if (view.attributes->integer("do_rotary", 0) != 0 && !view.type(kCosine).has_rank()) {
    for (size_t k = 0; k < view.outputs.size(); ++k) set_output(view, k, Type(dtype_of(view, kQuery)));
    return {};
  }
  return infer_by_definition(view);
}

}  // namespace
}  // namespace tenon::ops::op_group_query_attention

namespace tenon::ops {

std::vector<ir::ValueId> append_to_cache(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  return op_group_query_attention::Definition(build, view, in).run_appending();
}

}  // namespace tenon::ops

namespace tenon::ops::op_group_query_attention {

OP(group_query_attention) {
    .name = "GroupQueryAttention",
    .domain = "com.microsoft",
    .inputs = {{"query", "key?", "value?", "past_key?", "past_value?", "seqlens_k", "total_sequence_length", "cos_cache?", "sin_cache?",
                "position_ids?", "attention_bias?", "head_sink?", "k_scale?", "v_scale?", "q_norm_weight?", "k_norm_weight?"}},
    .outputs = {{"output", "present_key?", "present_value?", "output_qk?"}},
    .attributes = {{"causal: int = 1", "do_rotary: int", "k_quant_type: string = NONE", "kv_cache_bit_width: int", "kv_num_heads: int!",
                    "local_window_size: int = -1", "num_heads: int!", "qk_norm_epsilon: float = 1e-06", "qk_output: int = 0",
                    "rotary_interleaved: int", "scale: float", "sliding_window_cache: int = 0", "smooth_softmax: int = -1",
                    "softcap: float", "v_quant_type: string = NONE"}},
    .infer = infer,
    .definition = define,
    .samples =
        {{"f32[2,4,24], f32[2,4,8], f32[2,4,8], _, _, i32[2] = [3,3], i32[1] = [4]; num_heads=6, kv_num_heads=2, outputs=3",
          "f32[2,4,24], f32[2,4,8], f32[2,4,8], _, _, i32[2] = [3,1], i32[1] = [4]; num_heads=6, kv_num_heads=2, scale=0.3, local_window_size=2",
          "f32[2,1,24], f32[2,1,8], f32[2,1,8], f32[2,2,5,4], f32[2,2,5,4], i32[2] = [5,3], i32[] = [6], f32[9,2], f32[9,2]; num_heads=6, "
          "kv_num_heads=2, do_rotary=1, outputs=3",
          "f32[1,3,40], _, _, f32[1,2,8,4], f32[1,2,8,4], i32[1] = [6], i32[1] = [7], f32[9,1], f32[9,1]; num_heads=6, kv_num_heads=2, "
          "do_rotary=1, rotary_interleaved=1, local_window_size=3, outputs=3",
          "f32[2,3,40], _, _, f32[2,2,0,4], f32[2,2,0,4], i32[2] = [2,1], i32[] = [3], f32[9,2], f32[9,2], _, f32[1,6,3,3], f32[6]; "
          "num_heads=6, kv_num_heads=2, do_rotary=1, softcap=3.0, outputs=3",
          "f32[2,2,24], f32[2,2,8], f32[2,2,8], _, _, i32[2] = [1,1], i32[1] = [2], _, _, _, _, _, _, _, f32[4], f32[4]; num_heads=6, "
          "kv_num_heads=2, smooth_softmax=1, outputs=3"}},
};

}  // namespace tenon::ops::op_group_query_attention
