// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/attention/scores.h"
#include "ops/core/refuse.h"
#include "ops/reference/indices.h"

namespace tenon::ops {

namespace {

/// [batch, heads, length, size], dense.
struct Heads {
  std::vector<double> data;
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  const double* row(int64_t b, int64_t h, int64_t i) const { return data.data() + ((b * heads + h) * length + i) * size; }
};

Heads heads_of(const Tensor& t, int64_t heads) {
  const Sizes& s = t.shape();
  Heads r{numbers_of(t), s[0], s[1], t.rank() == 4 ? s[2] : s[1], s.back()};
  if (t.rank() == 4) return r;
  r.heads = heads;
  r.size = s[2] / heads;
  std::vector<double> moved(r.data.size());
  for (int64_t b = 0; b < r.batch; ++b)
    for (int64_t i = 0; i < r.length; ++i)
      for (int64_t h = 0; h < heads; ++h)
        std::copy_n(r.data.begin() + ((b * r.length + i) * heads + h) * r.size, r.size,
                    moved.begin() + ((b * heads + h) * r.length + i) * r.size);
  r.data = std::move(moved);
  return r;
}

Heads joined(const Tensor* past, Heads now) {
  if (!past) return now;
  const std::vector<double> old = numbers_of(*past);
  const int64_t before = past->shape()[2];
  Heads r{{}, now.batch, now.heads, before + now.length, now.size};
  for (int64_t p = 0; p < now.batch * now.heads; ++p) {
    r.data.insert(r.data.end(), old.begin() + p * before * now.size, old.begin() + (p + 1) * before * now.size);
    r.data.insert(r.data.end(), now.data.begin() + p * now.length * now.size, now.data.begin() + (p + 1) * now.length * now.size);
  }
  return r;
}

struct Mask {
  const Call& call;
  int64_t queries, keys, past;
  std::vector<double> given;  ///< attn_mask as numbers to add
  Sizes step;                 ///< over batch, heads, queries, columns
  int64_t columns = 0;
  bool causal;
  int64_t left, right;
  std::vector<int64_t> nonpad;

  Mask(const Call& c, int64_t batch, int64_t heads, int64_t q, int64_t k, int64_t p) : call(c), queries(q), keys(k), past(p) {
    const ir::Attributes& a = *c.view.attributes;
    causal = a.integer("is_causal", 0) != 0;
    left = a.integer("left_window_size", -1);
    right = a.integer("right_window_size", -1);
    // Counts are clamped to the number of keys, so that positions computed from them do not overflow.
    constexpr int64_t kBeyond = int64_t{1} << 40;
    if (c.has(kNonpad)) nonpad = integers_of(*c.in[kNonpad]);
    for (int64_t& n : nonpad) n = std::clamp(n, -kBeyond, kBeyond);
    if (!c.has(kMask)) return;
    const Tensor& m = *c.in[kMask];
    given = numbers_of(m);
    if (m.dtype() == DType::boolean)
      for (double& v : given) v = v != 0 ? 0 : -INFINITY;
    columns = m.shape().back();
    step = broadcast_strides(m.shape(), {batch, heads, q, columns});
  }
  double at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    double bias = 0;
    if (!given.empty()) bias = j < columns ? given[b * step[0] + h * step[1] + i * step[2] + j * step[3]] : -INFINITY;
    const int64_t place = i + (call.has(kPastKey) ? past : nonpad.empty() ? 0 : nonpad[b] - queries);
    const bool hidden = (causal && j > place) || (left >= 0 && place - j > left) || (right >= 0 && j - place > right) ||
                        (!nonpad.empty() && j >= nonpad[b]);
    return hidden ? -INFINITY : bias;
  }
};

}  // namespace

Result<void> evaluate_attention(Call& call) {
  const ir::Attributes& a = *call.view.attributes;
  const bool split = call.in[kQuery]->rank() == 3;
  const Heads q = heads_of(*call.in[kQuery], a.integer("q_num_heads", 1));
  const int64_t past = call.has(kPastKey) ? call.in[kPastKey]->shape()[2] : 0;
  const Heads k = joined(call.has(kPastKey) ? call.in[kPastKey] : nullptr, heads_of(*call.in[kKey], a.integer("kv_num_heads", 1)));
  const Heads v = joined(call.has(kPastValue) ? call.in[kPastValue] : nullptr, heads_of(*call.in[kValue], a.integer("kv_num_heads", 1)));
  if (!heads_fit(q.heads, k.heads) || k.size != q.size || v.length != k.length)
    return refuse(call.view, Code::shape_mismatch, "Q, K and V do not fit");
  const double scale = a.has("scale") ? a.number("scale", 1) : 1 / std::sqrt(static_cast<double>(q.size)), cap = a.number("softcap", 0);
  const int64_t mode = a.integer("qk_matmul_output_mode", 0), keys = k.length;
  const MaskedRows rows = masked_rows_of(a).value_or(MaskedRows::zero);
  const Mask mask(call, q.batch, q.heads, q.length, keys, past);
  std::vector<double> y(q.batch * q.heads * q.length * v.size), shown(q.batch * q.heads * q.length * keys), row(keys);
  for (int64_t b = 0; b < q.batch; ++b) {
    for (int64_t h = 0; h < q.heads; ++h) {
      const int64_t kv = h / (q.heads / k.heads);
      for (int64_t i = 0; i < q.length; ++i) {
        double* show = shown.data() + ((b * q.heads + h) * q.length + i) * keys;
        double top = -INFINITY, sum = 0;
        bool any = false;
        for (int64_t j = 0; j < keys; ++j) {
          double s = 0;
          for (int64_t d = 0; d < q.size; ++d) s += q.row(b, h, i)[d] * k.row(b, kv, j)[d];
          show[j] = s *= scale;
          if (cap > 0) s = cap * std::tanh(s / cap);
          if (mode == 1) show[j] = s;
          const double bias = mask.at(b, h, i, j);
          any = any || bias != -INFINITY;
          row[j] = s + bias;
          if (mode == 2) show[j] = row[j];
          top = row[j] != row[j] || row[j] > top ? row[j] : top;
        }
        for (double& s : row) sum += s = std::exp(s - top);
        double* out = y.data() + (split ? ((b * q.length + i) * q.heads + h) * v.size : ((b * q.heads + h) * q.length + i) * v.size);
        for (int64_t j = 0; j < keys; ++j) {
          double weight = row[j] / sum;
          if ((rows == MaskedRows::zero && !any) || (rows == MaskedRows::clean && std::isnan(weight))) weight = 0;
          if (mode == 3) show[j] = weight;
          for (int64_t d = 0; d < v.size; ++d) out[d] += weight * v.row(b, kv, j)[d];
        }
      }
    }
  }
  const Sizes shape = split ? Sizes{q.batch, q.length, q.heads * v.size} : Sizes{q.batch, q.heads, q.length, v.size};
  store_numbers(*TRY(call.make(0, shape)), y);
  if (call.out.size() > 1) store_numbers(*TRY(call.make(1, {k.batch, k.heads, keys, k.size})), k.data);
  if (call.out.size() > 2) store_numbers(*TRY(call.make(2, {v.batch, v.heads, keys, v.size})), v.data);
  if (call.out.size() > 3) store_numbers(*TRY(call.make(3, {q.batch, q.heads, q.length, keys})), shown);
  return {};
}

}  // namespace tenon::ops
