// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/attention/gpt_attention.h"
#include "ops/attention/packed_cache.h"
#include "ops/definition/plain_ops.h"
#include "ops/definition/precision.h"

namespace tenon::ops::op_gpt_attention {

namespace {

using ir::ValueId;

/// Builds the definition of one node. Query, key and value are [batch, tokens, heads * size] up to the attention itself.
class Definition {
 public:
  Definition(ir::Builder& build, const NodeView& view, std::span<const ValueId> in, const Heads& heads)
      : build_(build), view_(view), in_(in), heads_(heads), dtype_(view.type(kQkv).dtype) {}

  std::vector<ValueId> run() {
    const ValueId qkv = view_.has(kQkvBias) ? build_("Add", {in_[kQkv], in_[kQkvBias]}) : in_[kQkv];
    const int64_t keys = heads_.queries * heads_.size, values = keys + heads_.keys * heads_.size;
    tokens_ = size_of(build_, qkv, 1);
    if (is_packed(view_)) sequences_.emplace(build_, tokens_, in_[kContextLengths], in_[kPastLengths]);
    const ValueId rotated = with_rotation(qkv);
    query_ = sliced(build_, rotated, 2, 0, keys);
    key_ = sliced(build_, rotated, 2, keys, values);
    value_ = sliced(build_, qkv, 2, values, heads_.width());
    scale_queries();
    return view_.has(kPastLengths) ? with_cache() : with_rows();
  }

 private:
  double number(const char* name, double otherwise) const { return view_.attributes->number(name, otherwise); }

  /// The position of each token in its sequence: i64[tokens].
  ValueId position() {
    if (position_) return position_;
    if (sequences_) return position_ = sequences_->position();
    position_ = iota(build_, tokens_);
    return position_ = view_.has(kPastKeyValue) ? build_("Add", {position_, size_of(build_, in_[kPastKeyValue], 3)}) : position_;
  }

  /// The heads of queries and keys alone, rotated; `qkv` where there is no rotation. Angles are computed in f64: in f32 that of position
  /// 100,000 is wrong by 0.004. One RotaryEmbedding for both: ONNX Runtime takes two forms of a function that another one calls for one.
  ValueId with_rotation(ValueId qkv) {
    const Rotation rotation = rotation_of(view_);
    if (rotation == Rotation::none) return qkv;
    const int64_t heads = heads_.queries + heads_.keys;
    const int64_t size = view_.attributes->integer("rotary_embedding_dim", 0);
    Tensor frequencies = *Tensor::make(DType::f64, {size / 2});
    for (int64_t i = 0; i < size / 2; ++i)
      frequencies.as_mutable<double>()[static_cast<size_t>(i)] =
          std::pow(number("rotary_embedding_base", 10000), -2.0 * static_cast<double>(i) / static_cast<double>(size));
    ValueId place = cast_to(build_, build_("Unsqueeze", {position(), build_.ints({0, 2})}), DType::f64);
    if (view_.attributes->integer("rotary_embedding_scale_type", 0) == 1)
      place = build_("Div", {place, build_.scalar(DType::f64, number("rotary_embedding_scale", 1))});
    const ValueId angle = build_("Mul", {place, build_.constant(std::move(frequencies))});
    const DType wide = definition_dtype(dtype_);
    const ValueId cosine = cast_to(build_, build_("Cos", {angle}), wide), sine = cast_to(build_, build_("Sin", {angle}), wide);
    const ValueId both = as_dtype(build_, sliced(build_, qkv, 2, 0, heads * heads_.size), dtype_, wide);
    const ValueId rotated =
        build_("RotaryEmbedding", {both, cosine, sine},
               {{"interleaved", int64_t{rotation == Rotation::pairs}}, {"num_heads", heads}, {"rotary_embedding_dim", size}});
    return as_dtype(build_, rotated, wide, dtype_);
  }

  /// Multiplies the query at position t by element t of logn_scaling.
  void scale_queries() {
    if (!view_.has(kLognScaling)) return;
    const ValueId factor = build_("Gather", {in_[kLognScaling], position()});
    query_ = build_("Mul", {query_, build_("Unsqueeze", {cast_to(build_, factor, dtype_), build_.ints({1})})});
  }

  std::vector<std::pair<std::string, ir::Attribute>> attributes(bool causal) const {
    const double scale = 1 / (number("q_scaling", 1) * std::sqrt(static_cast<double>(heads_.size)));
    std::vector<std::pair<std::string, ir::Attribute>> out{{"is_causal", int64_t{causal}}, {"scale", static_cast<float>(scale)}};
    if (const double cap = number("attn_logit_softcapping_scale", 0); cap != 0) out.emplace_back("softcap", static_cast<float>(cap));
    return out;
  }

  /// The positions after which each query sees keys, [tokens] as `place`: `place` - window. The window counts the key of `place` itself.
  ValueId before_window(ValueId place) const {
    const ValueId window = build_("Reshape", {cast_to(build_, in_[kWindow], DType::i64), build_.ints({})});
    return build_("Sub", {place, window});
  }

  /// bool[tokens, keys] of keys that causality alone does not mask; none: all.
  ValueId mask_of_rows() {
    ValueId seen;
    if (sequences_) {
      const ValueId own = sequences_->number();
      seen = build_("Equal", {build_("Unsqueeze", {own, build_.ints({1})}), own});
    }
    if (!view_.has(kWindow)) return seen;
    ValueId place = iota(build_, tokens_), keys = tokens_;
    if (view_.has(kPastKeyValue)) {
      const ValueId past = size_of(build_, in_[kPastKeyValue], 3);
      place = build_("Add", {place, past});
      keys = build_("Add", {keys, past});
    }
    const ValueId near = build_("Greater", {iota(build_, keys), build_("Unsqueeze", {before_window(place), build_.ints({1})})});
    return seen ? build_("And", {seen, near}) : near;
  }

  /// Rows of new tokens after those of past_key_value, where there is one.
  std::vector<ValueId> with_rows() {
    std::vector<ValueId> operands{query_, key_, value_, mask_of_rows(), {}, {}};
    for (size_t k = 0; k < 2 && view_.has(kPastKeyValue); ++k) {
      const auto which = static_cast<int64_t>(k);
      operands[4 + k] = squeezed(build_, sliced(build_, in_[kPastKeyValue], 1, which, which + 1), 1);
    }
    while (!operands.back()) operands.pop_back();
    const bool has_present = view_.outputs.size() > 1;
    auto how = attributes(is_causal(view_));
    how.emplace_back("kv_num_heads", heads_.keys);
    how.emplace_back("q_num_heads", heads_.queries);
    const auto y = build_.many("Attention", operands, has_present ? 3 : 1, std::move(how));
    if (!has_present) return {y[0]};
    const ValueId axis = build_.ints({1});
    return {y[0], build_("Concat", {build_("Unsqueeze", {y[1], axis}), build_("Unsqueeze", {y[2], axis})}, {{"axis", int64_t{1}}})};
  }

  /// Every query against the rows of each sequence; the results of its own are taken.
  std::vector<ValueId> with_cache() {
    const PackedCache cache(build_, in_[kPastKeyValue], in_[kPageTable], *sequences_, heads_.keys, heads_.size);
    const ValueId present = cache.joined(key_, value_);
    const ValueId ends = build_("Gather", {sequences_->end(), sequences_->number()});
    const ValueId last = is_causal(view_) ? position() : build_("Sub", {ends, build_.scalar(DType::i64, 1)});
    const ValueId mask = cache.visible(view_.has(kWindow) ? before_window(position()) : ValueId{}, last);
    const ValueId apart = build_("Reshape", {query_, build_.ints({0, 0, heads_.queries, heads_.size})});
    const ValueId query = cache.repeated(transposed(build_, apart, {0, 2, 1, 3}));
    const ValueId y = build_("Attention", {query, cache.rows(present, 0), cache.rows(present, 1), mask}, attributes(false));
    const ValueId joined = build_("Reshape", {transposed(build_, y, {0, 2, 1, 3}), build_.ints({0, 0, heads_.queries * heads_.size})});
    std::vector<ValueId> out{cache.own(joined), present};
    out.resize(view_.outputs.size());
    return out;
  }

  ir::Builder& build_;
  const NodeView& view_;
  std::span<const ValueId> in_;
  const Heads heads_;
  const DType dtype_;
  ValueId query_, key_, value_, tokens_, position_;
  std::optional<PackedSequences> sequences_;
};

}  // namespace

std::vector<ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ValueId> in) {
  const auto heads = heads_of(view);
  if (!heads) return {};
  std::vector<ValueId> operands(in.begin(), in.end());
  operands.resize(kLognScaling + 1);
  return Definition(build, view, operands, *heads).run();
}

}  // namespace tenon::ops::op_gpt_attention
