// SPDX-License-Identifier: Apache-2.0
// Attention within concatenated sequences of any lengths, without padding between them.
#include <cmath>

#include "ops/attention/ragged.h"
#include "ops/attention/scores.h"
#include "ops/infer/require.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_ragged_attention {

namespace {

Result<void> check_types(const NodeView& view) {
  for (size_t k : {kRaggedQuery, kRaggedKey, kRaggedValue}) {
    TRY(require_dtype(view, k, is_arithmetic_float, "a float type"));
    TRY(require_rank(view, k, 3));
  }
  TRY(require_same_dtype(view, kRaggedQuery, kRaggedKey));
  TRY(require_same_dtype(view, kRaggedQuery, kRaggedValue));
  for (size_t k : {kQueryStarts, kKeyStarts}) {
    TRY(require_dtype(view, k, [](DType d) { return d == DType::i64; }, "i64"));
    TRY(require_rank(view, k, 1));
  }
  TRY(require_dtype(view, kLongest, [](DType d) { return d == DType::i64; }, "i64"));
  TRY(require_rank(view, kLongest, 0));
  TRY(require_dtype(view, kRaggedMask, [](DType d) { return d == DType::boolean || is_arithmetic_float(d); }, "bool or a float type"));
  TRY(require_rank(view, kRaggedMask, 1));
  if (!masked_rows_of(*view.attributes))
    return refuse(view, Code::bad_attribute, "masked_rows says something else").expected("zero, nan or clean");
  return {};
}

Result<void> infer(NodeView& view) {
  TRY(check_types(view));
  Type out(dtype_of(view, kRaggedQuery));
  if (ranks_known(view, {kRaggedQuery, kRaggedKey, kRaggedValue, kQueryStarts, kKeyStarts})) {
    const Type &q = view.type(kRaggedQuery), &k = view.type(kRaggedKey), &v = view.type(kRaggedValue);
    TRY(require_equal(view, q.dim(2), k.dim(2), "sizes of a head of Q and K"));
    TRY(require_equal(view, k.dim(0), v.dim(0), "rows of K and V"));
    TRY(require_equal(view, k.dim(1), v.dim(1), "heads of K and V"));
    TRY(require_equal(view, view.type(kQueryStarts).dim(0), view.type(kKeyStarts).dim(0), "numbers of sequences"));
    if (ranks_known(view, {kRaggedMask}))
      TRY(require_equal(view, view.type(kRaggedMask).dim(0), k.dim(0), "elements of mask and rows of K"));
    out.shape = DimList{q.dim(0), q.dim(1), v.dim(2)};
  }
  set_output(view, 0, std::move(out));
  return {};
}

/// Checks that the offsets ascend from 0 to `rows`.
bool are_starts(const std::vector<int64_t>& starts, int64_t rows) {
  return !starts.empty() && starts.front() == 0 && starts.back() == rows && std::ranges::is_sorted(starts);
}

/// One query of one head over the keys of its sequence.
class Row {
 public:
  explicit Row(const Call& call)
      : q_(numbers_of(*call.in[kRaggedQuery])),
        k_(numbers_of(*call.in[kRaggedKey])),
        v_(numbers_of(*call.in[kRaggedValue])),
        heads_(call.in[kRaggedQuery]->shape()[1]),
        key_heads_(call.in[kRaggedKey]->shape()[1]),
        size_(call.in[kRaggedQuery]->shape()[2]),
        value_size_(call.in[kRaggedValue]->shape()[2]),
        kind_(masked_rows_of(*call.view.attributes).value_or(MaskedRows::zero)),
        cap_(call.view.attributes->number("softcap", 0)) {
    const ir::Attributes& a = *call.view.attributes;
    scale_ = a.has("scale") ? a.number("scale", 1) : 1 / std::sqrt(static_cast<double>(size_));
    if (!call.has(kRaggedMask)) return;
    mask_ = numbers_of(*call.in[kRaggedMask]);
    if (call.in[kRaggedMask]->dtype() == DType::boolean)
      for (double& m : mask_) m = m != 0 ? 0 : -INFINITY;
  }

  void attend(int64_t query, int64_t head, int64_t from, int64_t to, double* out) {
    const int64_t key_head = head / (heads_ / key_heads_);
    std::vector<double> weights;
    double top = -INFINITY, sum = 0;
    bool any = false;
    for (int64_t j = from; j < to; ++j) {
      double s = 0;
      for (int64_t d = 0; d < size_; ++d) s += q_[(query * heads_ + head) * size_ + d] * k_[(j * key_heads_ + key_head) * size_ + d];
      s *= scale_;
      if (cap_ > 0) s = cap_ * std::tanh(s / cap_);
      const double bias = mask_.empty() ? 0 : mask_[j];
      any = any || bias != -INFINITY;
      s += bias;
      top = std::isnan(s) || s > top ? s : top;
      weights.push_back(s);
    }
    for (double& w : weights) sum += w = std::exp(w - top);
    for (int64_t j = from; j < to; ++j) {
      double weight = weights[j - from] / sum;
      if ((kind_ == MaskedRows::zero && !any) || (kind_ == MaskedRows::clean && std::isnan(weight))) weight = 0;
      for (int64_t d = 0; d < value_size_; ++d) out[d] += weight * v_[(j * key_heads_ + key_head) * value_size_ + d];
    }
  }

 private:
  std::vector<double> q_, k_, v_, mask_;
  int64_t heads_, key_heads_, size_, value_size_;
  MaskedRows kind_;
  double cap_, scale_ = 1;
};

Result<void> evaluate(Call& call) {
  const Sizes &q = call.in[kRaggedQuery]->shape(), &k = call.in[kRaggedKey]->shape(), &v = call.in[kRaggedValue]->shape();
  if (k[1] < 1 || q[1] % k[1] != 0) return refuse(call.view, Code::shape_mismatch, "the heads of Q are no multiple of those of K");
  const auto queries = integers_of(*call.in[kQueryStarts]), keys = integers_of(*call.in[kKeyStarts]);
  if (!are_starts(queries, q[0]) || !are_starts(keys, k[0]))
    return refuse(call.view, Code::bad_input, "starts do not ascend from 0 to the number of rows");
  Row row(call);
  std::vector<double> y(q[0] * q[1] * v[2]);
  for (size_t s = 0; s + 1 < queries.size(); ++s)
    for (int64_t i = queries[s]; i < queries[s + 1]; ++i)
      for (int64_t h = 0; h < q[1]; ++h) row.attend(i, h, keys[s], keys[s + 1], y.data() + (i * q[1] + h) * v[2]);
  store_numbers(*TRY(call.make(0, {q[0], q[1], v[2]})), y);
  return {};
}

}  // namespace

/// Q: [queries, heads, size], K and V: [keys, key heads, size]. Sequence s has the queries from query_starts[s] up to query_starts[s + 1],
/// and keys likewise: ascending from 0 to the number of rows. longest: an upper bound of the queries of one sequence, by which the work is
/// divided. mask: for each key a bool or a number to add to its scores. Attributes as of Attention.
OP(ragged_attention) {
    .name = "RaggedAttention",
    .domain = "tenon",
    .inputs = {{"Q", "K", "V", "query_starts", "key_starts", "longest", "mask?"}},
    .outputs = {{"Y"}},
    .attributes = {{"masked_rows: string = zero", "scale: float", "softcap: float = 0.0"}},
    .kernel_family = KernelFamily::ragged_attention,
    .infer = infer,
    .reference = evaluate,
    .first_opset = 1,
    .samples =
        {{"f32[5,3,4], f32[5,3,4], f32[5,3,4], i64[3] = [0, 2, 5], i64[3] = [0, 2, 5], i64[] = 3",
          "f32[2,4,8], f32[6,2,8], f32[6,2,16], i64[3] = [0, 1, 2], i64[3] = [0, 4, 6], i64[] = 1, f32[6]; scale=0.3, softcap=2.0",
          "f32[3,1,4], f32[3,1,4], f32[3,1,4], i64[3] = [0, 1, 3], i64[3] = [0, 1, 3], i64[] = 2, bool[3] = [0, 1, 0]",
          "f64[3,1,4], f64[3,1,4], f64[3,1,4], i64[3] = [0, 1, 3], i64[3] = [0, 1, 3], i64[] = 2, bool[3] = [0, 1, 0]; masked_rows=nan",
          "f16[3,1,4], f16[3,1,4], f16[3,1,4], i64[3] = [0, 0, 3], i64[3] = [0, 0, 3], i64[] = 3, bool[3]; masked_rows=clean"}},
};

}  // namespace tenon::ops::op_ragged_attention
