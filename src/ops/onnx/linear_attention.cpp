// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/reference_helpers.h"

namespace tenon::ops {

namespace {

enum Input : size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, kQuery, is_real_arithmetic, "a float type"));
  for (size_t k : {kQuery, kKey, kValue}) TRY(require_rank(view, k, 3));
  const int64_t query_heads = view.attributes->integer("q_num_heads", 0), heads = view.attributes->integer("kv_num_heads", 0);
  if (heads < 1 || query_heads < 1 || query_heads % heads != 0) {
    return refuse(view, Code::bad_attribute, "q_num_heads must be a positive multiple of kv_num_heads")
        .found(std::to_string(query_heads) + " and " + std::to_string(heads));
  }
  const std::string rule = view.attributes->text("update_rule", "gated_delta");
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta")
    return refuse(view, Code::bad_attribute, "update_rule has an unknown value").found(rule);
  if (rule.starts_with("gated") != view.has(kDecay))
    return refuse(view, Code::bad_graph, "decay belongs to the gated rules, and to them only");
  if (rule.ends_with("delta") != view.has(kBeta)) return refuse(view, Code::bad_graph, "beta belongs to the delta rules, and to them only");
  Type out(dtype_of(view, kQuery)), state(view.has(kPast) ? dtype_of(view, kPast) : dtype_of(view, kQuery));
  if (ranks_known(view, {kQuery, kValue})) {
    const Type& q = view.type(kQuery);
    const Dim value_size = floor_div(view.type(kValue).dim(2), heads);
    out.shape = DimList{q.dim(0), q.dim(1), value_size * query_heads};
    state.shape = DimList{q.dim(0), heads, floor_div(q.dim(2), query_heads), value_size};
  }
  set_output(view, 0, std::move(out));
  set_output(view, 1, std::move(state));
  return {};
}

struct Head {
  const Call& call;
  int64_t heads, query_heads, steps, size, value_size;
  std::vector<double> q, k, v, decay, beta;
  int64_t decays = 0, betas = 0;  ///< last sizes of decay and beta
  double scale;

  /// Runs the recurrence of one head of one batch entry; state: [size, value_size].
  void run(int64_t b, int64_t h, double* state, std::vector<double>& out) const {
    std::vector<double> value(value_size);
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t row = b * steps + t;
      const double *key = k.data() + (row * heads + h) * size, *given = v.data() + (row * heads + h) * value_size;
      for (int64_t d = 0; d < size && decays > 0; ++d) {
        const double factor = std::exp(decay[row * decays + (decays == heads ? h : h * size + d)]);
        for (int64_t m = 0; m < value_size; ++m) state[d * value_size + m] *= factor;
      }
      for (int64_t m = 0; m < value_size; ++m) {
        value[m] = given[m];
        if (betas == 0) continue;
        for (int64_t d = 0; d < size; ++d) value[m] -= state[d * value_size + m] * key[d];
        value[m] *= beta[row * betas + (betas == 1 ? 0 : h)];
      }
      for (int64_t d = 0; d < size; ++d)
        for (int64_t m = 0; m < value_size; ++m) state[d * value_size + m] += key[d] * value[m];
      const int64_t group = query_heads / heads;
      for (int64_t qh = h * group; qh < (h + 1) * group; ++qh) {
        const double* query = q.data() + (row * query_heads + qh) * size;
        double* to = out.data() + (row * query_heads + qh) * value_size;
        for (int64_t d = 0; d < size; ++d)
          for (int64_t m = 0; m < value_size; ++m) to[m] += scale * query[d] * state[d * value_size + m];
      }
    }
  }
};

Result<void> evaluate(Call& call) {
  const Tensor &q = *call.in[kQuery], &v = *call.in[kValue];
  const ir::Attributes& a = *call.view.attributes;
  const int64_t heads = a.integer("kv_num_heads", 1), query_heads = a.integer("q_num_heads", 1), batch = q.shape()[0], steps = q.shape()[1];
  Head head{call,
            heads,
            query_heads,
            steps,
            q.shape()[2] / query_heads,
            v.shape()[2] / heads,
            numbers_of(q),
            numbers_of(*call.in[kKey]),
            numbers_of(v),
            {},
            {},
            0,
            0,
            0};
  if (call.in[kKey]->shape()[2] != head.size * heads) return refuse(call.view, Code::shape_mismatch, "query and key do not fit");
  if (call.has(kDecay)) {
    head.decay = numbers_of(*call.in[kDecay]);
    head.decays = call.in[kDecay]->shape().back();
  }
  if (call.has(kBeta)) {
    head.beta = numbers_of(*call.in[kBeta]);
    head.betas = call.in[kBeta]->shape().back();
  }
  const double given = a.number("scale", 0);
  head.scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(head.size));
  std::vector<double> out(batch * steps * query_heads * head.value_size), state(batch * heads * head.size * head.value_size);
  if (call.has(kPast)) state = numbers_of(*call.in[kPast]);
  for (int64_t i = 0; i < batch * heads; ++i) head.run(i / heads, i % heads, state.data() + i * head.size * head.value_size, out);
  store_numbers(*TRY(call.make(0, {batch, steps, query_heads * head.value_size})), out);
  if (call.out.size() > 1) store_numbers(*TRY(call.make(1, {batch, heads, head.size, head.value_size})), state);
  return {};
}

}  // namespace

OP(linear_attention) {
    .name = "LinearAttention",
    .since = 27,
    .inputs = {"query", "key", "value", "past_state?", "decay?", "beta?"},
    .outputs = {"output", "present_state"},
    .attributes = {"chunk_size: int = 64", "kv_num_heads: int!", "q_num_heads: int!", "scale: float = 0.0",
                   "update_rule: string = gated_delta"},
    .infer = infer,
    .reference = evaluate,
    .first = 27,
    .samples = {"f32[2,3,8], f32[2,3,8], f32[2,3,6]; q_num_heads=2, kv_num_heads=2, update_rule=linear, outputs=2",
                "f32[1,4,8], f32[1,4,4], f32[1,4,6], f32[1,2,2,3], f32[1,4,2], f32[1,4,1]; q_num_heads=4, kv_num_heads=2, outputs=2",
                "f32[1,4,8], f32[1,4,4], f32[1,4,6], _, f32[1,4,4]; q_num_heads=4, kv_num_heads=2, update_rule=gated, outputs=2"},
};

}  // namespace tenon::ops
