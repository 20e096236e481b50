// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/scores.h"

#include <algorithm>
#include <cmath>

#include "ops/attention/heads.h"
#include "ops/infer/require.h"

namespace tenon::ops {

namespace {

using ir::ValueId;

Result<AttentionSizes> split_sizes(const NodeView& view) {
  const Type &q = view.type(kQuery), &k = view.type(kKey), &v = view.type(kValue);
  AttentionSizes s;
  const int64_t query_heads = view.attributes->integer("q_num_heads", 0), heads = view.attributes->integer("kv_num_heads", 0);
  if (query_heads < 1 || heads < 1) {
    return refuse(view, Code::bad_attribute, "operands of rank 3 need q_num_heads and kv_num_heads")
        .expected("two positive numbers")
        .found(std::to_string(query_heads) + " and " + std::to_string(heads));
  }
  s.split = true;
  s.query_heads = query_heads;
  s.heads = heads;
  s.queries = q.dim(1);
  s.keys = k.dim(1);
  s.size = floor_div(q.dim(2), query_heads);
  s.value_size = floor_div(v.dim(2), heads);
  TRY(require_equal(view, s.size * query_heads, q.dim(2), "hidden size of Q and a multiple of q_num_heads"));
  TRY(require_equal(view, s.size * heads, k.dim(2), "hidden size of K and head size of Q times kv_num_heads"));
  TRY(require_equal(view, s.value_size * heads, v.dim(2), "hidden size of V and a multiple of kv_num_heads"));
  TRY(require_equal(view, v.dim(1), s.keys, "sequence lengths of K and V"));
  return s;
}

Result<AttentionSizes> direct_sizes(const NodeView& view) {
  const Type &q = view.type(kQuery), &k = view.type(kKey), &v = view.type(kValue);
  AttentionSizes s;
  s.query_heads = q.dim(1);
  s.heads = k.dim(1);
  s.queries = q.dim(2);
  s.keys = k.dim(2);
  s.size = q.dim(3);
  s.value_size = v.dim(3);
  TRY(require_equal(view, s.size, k.dim(3), "head sizes of Q and K"));
  TRY(require_equal(view, s.heads, v.dim(1), "heads of K and V"));
  TRY(require_equal(view, s.keys, v.dim(2), "sequence lengths of K and V"));
  return s;
}

/// The last axis of a mask may be shorter than the keys: keys after it are masked.
Result<void> require_mask(const NodeView& view, const AttentionSizes& s) {
  if (!view.has(kMask) || !view.type(kMask).has_rank()) return {};
  TRY(require_rank(view, kMask, 1, 4));
  const Dim width = view.type(kMask).dim(-1);
  if (s.total.less(width) == true)
    return refuse(view, Code::shape_mismatch, "the mask is longer than the keys").expected(s.total.text()).found(width.text());
  return require_broadcastable(view, kMask, {s.batch, s.query_heads, s.queries, width});
}

/// Builds the definition of one node.
class Definition {
 public:
  Definition(ir::Builder& build, const NodeView& view, std::span<const ValueId> in, const AttentionSizes& sizes)
      : build_(build), view_(view), in_(in), s_(sizes), dtype_(view.type(kQuery).dtype) {}

  std::vector<ValueId> run() {
    const ValueId q = heads_of(kQuery, s_.query_heads), k = join(kPastKey, heads_of(kKey, s_.heads)),
                  v = join(kPastValue, heads_of(kValue, s_.heads));
    const double scale =
        view_.attributes->has("scale") ? view_.attributes->number("scale", 1) : 1 / std::sqrt(static_cast<double>(s_.size.value()));
    const ValueId root = build_.scalar(dtype_, std::sqrt(scale));
    const ValueId transposed_keys = build_("Transpose", {repeat(k, s_.size)}, {{"perm", Ints{0, 1, 3, 2}}});
    const ValueId raw = build_("MatMul", {build_("Mul", {q, root}), build_("Mul", {transposed_keys, root})});
    const double cap = view_.attributes->number("softcap", 0);
    ValueId scores = raw;
    if (cap > 0) {
      const ValueId limit = build_.scalar(dtype_, cap);
      scores = build_("Mul", {build_("Tanh", {build_("Div", {raw, limit})}), limit});
    }
    const ValueId capped = scores, bias = bias_of(k);
    if (bias) scores = build_("Add", {scores, bias});
    const ValueId masked = scores;
    const ValueId weights = softmax(scores, bias);
    ValueId y = build_("MatMul", {weights, repeat(v, s_.value_size)});
    if (s_.split) y = build_("Reshape", {build_("Transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}}), build_.ints({0, 0, -1})});
    const ValueId shown[] = {raw, capped, masked, weights};
    const int64_t mode = view_.attributes->integer("qk_matmul_output_mode", 0);
    std::vector<ValueId> out{y, k, v, shown[std::clamp<int64_t>(mode, 0, 3)]};
    out.resize(view_.outputs.size());
    return out;
  }

 private:
  ValueId heads_of(size_t input, Dim heads) {
    if (!s_.split) return in_[input];
    const ValueId parts = build_("Reshape", {in_[input], build_.ints({0, 0, heads.value(), -1})});
    return build_("Transpose", {parts}, {{"perm", Ints{0, 2, 1, 3}}});
  }
  ValueId join(size_t past, ValueId now) { return view_.has(past) ? build_("Concat", {in_[past], now}, {{"axis", int64_t{2}}}) : now; }
  /// Repeats each head of K or V for the heads of Q that share it.
  ValueId repeat(ValueId x, Dim size) {
    if (s_.query_heads.known_equal(s_.heads)) return x;
    return repeat_heads(build_, x, s_.heads, size, s_.query_heads.value() / s_.heads.value());
  }
  ValueId length(ValueId x, int64_t axis) { return build_("Shape", {x}, {{"start", axis}, {"end", axis + 1}}); }
  ValueId count(ValueId x, int64_t axis) { return build_("Squeeze", {length(x, axis), build_.ints({0})}); }
  ValueId range(ValueId end) { return build_("Range", {build_.scalar(DType::i64, 0), end, build_.scalar(DType::i64, 1)}); }
  ValueId both(ValueId a, ValueId b) { return a ? build_("And", {a, b}) : b; }

  /// [1 or batch, 1, queries or 1, total] of bool: the keys that a query attends to; none: all.
  ValueId allowed(ValueId keys) {
    const int64_t left = view_.attributes->integer("left_window_size", -1), right = view_.attributes->integer("right_window_size", -1);
    const bool causal = view_.attributes->integer("is_causal", 0) != 0;
    ValueId out;
    if (!causal && left < 0 && right < 0 && !view_.has(kNonpad)) return out;
    const ValueId columns = range(count(keys, 2));
    ValueId nonpad;
    if (view_.has(kNonpad)) {
      nonpad = build_("Reshape", {in_[kNonpad], build_.ints({-1, 1, 1, 1})});
      out = build_("Less", {columns, nonpad});
    }
    if (!causal && left < 0 && right < 0) return out;
    const ValueId queries = count(in_[kQuery], s_.split ? 1 : 2);
    ValueId place = build_("Unsqueeze", {range(queries), build_.ints({1})});
    if (view_.has(kPastKey)) place = build_("Add", {place, count(in_[kPastKey], 2)});
    else if (nonpad) place = build_("Add", {place, build_("Sub", {nonpad, queries})});
    const ValueId back = build_("Sub", {place, columns});
    if (causal) out = both(out, build_("LessOrEqual", {columns, place}));
    if (left >= 0) out = both(out, build_("LessOrEqual", {back, build_.scalar(DType::i64, static_cast<double>(left))}));
    if (right >= 0) out = both(out, build_("LessOrEqual", {build_("Neg", {back}), build_.scalar(DType::i64, static_cast<double>(right))}));
    return out;
  }

  /// The bias that is added to the scores; none where nothing is masked.
  ValueId bias_of(ValueId keys) {
    const ValueId zero = build_.scalar(dtype_, 0), never = build_.scalar(dtype_, -INFINITY), seen = allowed(keys);
    ValueId bias;
    if (seen) bias = build_("Where", {seen, zero, never});
    if (!view_.has(kMask)) return bias;
    ValueId mask = in_[kMask];
    if (view_.type(kMask).dtype == DType::boolean) mask = build_("Where", {mask, zero, never});
    const Dim width = view_.type(kMask).dim(-1);
    if (!width.known_equal(s_.total)) {
      const int64_t rank = view_.rank(kMask);
      const ValueId missing = build_("Sub", {length(keys, 2), length(mask, rank - 1)});
      const ValueId none = build_.ints(Ints(2 * rank - 1, 0));
      mask = build_("Pad", {mask, build_("Concat", {none, missing}, {{"axis", int64_t{0}}}), never});
    }
    return bias ? build_("Add", {mask, bias}) : mask;
  }

  ValueId softmax(ValueId scores, ValueId bias) {
    const int64_t precision = view_.attributes->integer("softmax_precision", 0);
    const bool cast = precision != 0 && precision != static_cast<int64_t>(dtype_);
    if (cast) scores = build_("Cast", {scores}, {{"to", precision}});
    ValueId weights = build_("Softmax", {scores}, {{"axis", int64_t{-1}}});
    if (cast) weights = build_("Cast", {weights}, {{"to", static_cast<int64_t>(dtype_)}});
    const MaskedRows rows = masked_rows_of(*view_.attributes).value_or(MaskedRows::zero);
    const ValueId zero = build_.scalar(dtype_, 0);
    if (rows == MaskedRows::clean) return build_("Where", {build_("IsNaN", {weights}), zero, weights});
    if (!bias || rows == MaskedRows::nan) return weights;
    const ValueId top = build_("ReduceMax", {bias, build_.ints({-1})});
    return build_("Where", {build_("IsInf", {top}, {{"detect_positive", int64_t{0}}}), zero, weights});
  }

  ir::Builder& build_;
  const NodeView& view_;
  std::span<const ValueId> in_;
  const AttentionSizes& s_;
  DType dtype_;
};

}  // namespace

std::optional<MaskedRows> masked_rows_of(const ir::Attributes& attributes) {
  const std::string text = attributes.text("masked_rows", "zero");
  if (text == "zero") return MaskedRows::zero;
  if (text == "nan") return MaskedRows::nan;
  return text == "clean" ? std::optional(MaskedRows::clean) : std::nullopt;
}

bool heads_fit(int64_t query_heads, int64_t heads) { return heads == 0 ? query_heads == 0 : query_heads % heads == 0; }

Result<std::optional<AttentionSizes>> attention_sizes(const NodeView& view) {
  if (!ranks_known(view, {kQuery, kKey, kValue})) return std::optional<AttentionSizes>();
  const int rank = view.rank(kQuery);
  if ((rank != 3 && rank != 4) || view.rank(kKey) != rank || view.rank(kValue) != rank) {
    return refuse(view, Code::rank_mismatch, "Q, K and V must have one rank")
        .expected("3 or 4")
        .found(view.type(kQuery).text() + ", " + view.type(kKey).text() + ", " + view.type(kValue).text());
  }
  AttentionSizes s = rank == 3 ? TRY(split_sizes(view)) : TRY(direct_sizes(view));
  s.batch = view.type(kQuery).dim(0);
  if (s.query_heads.is_number() && s.heads.is_number() && !heads_fit(s.query_heads.value(), s.heads.value())) {
    return refuse(view, Code::shape_mismatch, "heads of Q must be a multiple of the heads of K")
        .expected("a multiple of " + s.heads.text())
        .found(s.query_heads.text());
  }
  TRY(require_equal(view, s.batch, view.type(kKey).dim(0), "batch sizes of Q and K"));
  TRY(require_equal(view, s.batch, view.type(kValue).dim(0), "batch sizes of Q and V"));
  if (view.has(kPastKey)) {
    TRY(require_rank(view, kPastKey, 4));
    TRY(require_rank(view, kPastValue, 4));
    if (!ranks_known(view, {kPastKey, kPastValue})) return std::optional<AttentionSizes>();
    s.past = view.type(kPastKey).dim(2);
  }
  s.total = s.past + s.keys;
  TRY(require_sizes(view, kPastKey, {s.batch, s.heads, s.past, s.size}));
  TRY(require_sizes(view, kPastValue, {s.batch, s.heads, s.past, s.value_size}));
  TRY(require_sizes(view, kNonpad, {s.batch}));
  TRY(require_mask(view, s));
  return std::optional<AttentionSizes>(s);
}

std::vector<ValueId> define_attention(ir::Builder& build, const NodeView& view, std::span<const ValueId> in) {
  const auto sizes = attention_sizes(view);
  const bool fits = sizes && *sizes && (*sizes)->size.is_number() && (*sizes)->value_size.is_number() && (*sizes)->heads.is_number() &&
                    (*sizes)->query_heads.is_number() && (!view.has(kMask) || view.type(kMask).has_rank());
  if (!fits) return {};
  return Definition(build, view, in, **sizes).run();
}

}  // namespace tenon::ops
