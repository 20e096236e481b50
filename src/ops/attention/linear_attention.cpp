// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/definition/body_builder.h"
#include "ops/definition/plain_ops.h"
#include "ops/form/loops.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_linear_attention {

namespace {

enum Input : size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, kQuery, is_arithmetic_float, "a float type"));
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
    const Dim value_size = floor_div(view.type(kValue).dim(2), heads), size = floor_div(q.dim(2), query_heads);
    TRY(require_equal(view, size * query_heads, q.dim(2), "hidden size of the query and a multiple of q_num_heads"));
    TRY(require_sizes(view, kKey, {q.dim(0), q.dim(1), size * heads}));
    TRY(require_sizes(view, kValue, {q.dim(0), q.dim(1), value_size * heads}));
    TRY(require_sizes(view, kPast, {q.dim(0), heads, size, value_size}));
    // One number for each head, or for each element of each head.
    const auto require_steps = [&](size_t input, Dim other) -> Result<void> {
      TRY(require_rank(view, input, 3));
      if (!view.has(input) || !view.type(input).has_rank()) return {};
      const Dim last = view.type(input).dim(2);
      const std::optional<bool> is_heads = last.equals(heads);
      const Dim wanted = last.known_equal(other) || is_heads == false ? other : is_heads ? Dim(heads) : last;
      return require_sizes(view, input, {q.dim(0), q.dim(1), wanted});
    };
    TRY(require_steps(kDecay, size * heads));
    TRY(require_steps(kBeta, 1));
    out.shape = DimList{q.dim(0), q.dim(1), value_size * query_heads};
    state.shape = DimList{q.dim(0), heads, floor_div(q.dim(2), query_heads), value_size};
  }
  set_output(view, 0, std::move(out));
  set_output(view, 1, std::move(state));
  return {};
}

/// The recurrence of linear attention over the operands as f64.
struct Recurrence {
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
  Recurrence head{heads,
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

/// The recurrence in plain ops: a Scan over the positions that carries the state [batch, heads, size, value size].
class Definition {
 public:
  Definition(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in)
      : build_(build),
        view_(view),
        in_(in),
        heads_(view.attributes->integer("kv_num_heads", 1)),
        query_heads_(view.attributes->integer("q_num_heads", 1)),
        size_(view.type(kQuery).dim(2).value() / query_heads_),
        value_size_(view.type(kValue).dim(2).value() / heads_),
        state_(view.type(view.has(kPast) ? kPast : kQuery).dtype),
        wide_(compute_dtype(state_)) {}

  std::vector<ir::ValueId> run() {
    const double given = view_.attributes->number("scale", 0);
    const double scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(size_));
    std::vector<ir::ValueId> operands{view_.has(kPast) ? cast_to(build_, in_[kPast], wide_) : no_state(),
                                      build_("Mul", {steps(kQuery, query_heads_ / heads_, size_), build_.scalar(wide_, scale)}),
                                      steps(kKey, 1, size_), steps(kValue, 1, value_size_)};
    if (view_.has(kDecay)) operands.push_back(build_("Exp", {gate(kDecay, true)}));
    if (view_.has(kBeta)) operands.push_back(gate(kBeta, false));
    if (!build_.status()) return {};
    BodyBuilder body(build_);
    finish(body, operands);
    if (!body.build.status()) return {};
    const std::vector<ir::ValueId> results = build_.with_body("Scan", operands, 2, std::move(body.graph), body.captured,
                                                              {{"num_scan_inputs", static_cast<int64_t>(operands.size()) - 1}});
    const ir::ValueId by_head = build_("Transpose", {results[1]}, {{"perm", Ints{1, 0, 2, 3, 4}}});
    const ir::ValueId y = build_("Reshape", {by_head, build_.ints({0, 0, query_heads_ * value_size_})});
    return {cast_to(build_, y, view_.type(kQuery).dtype), cast_to(build_, results[0], state_)};
  }

 private:
  ir::ValueId no_state() {
    const ir::ValueId shape =
        build_("Concat", {shape_of(build_, in_[kQuery], 0, 1), build_.ints({heads_, size_, value_size_})}, {{"axis", int64_t{0}}});
    return build_("Expand", {build_.scalar(wide_, 0), shape});
  }

  /// [batch, steps, heads * rows * columns] as [steps, batch, heads, rows, columns]
  ir::ValueId steps(size_t operand, int64_t rows, int64_t columns) {
    const ir::ValueId x = build_("Reshape", {cast_to(build_, in_[operand], wide_), build_.ints({0, 0, -1, rows, columns})});
    return build_("Transpose", {x}, {{"perm", Ints{1, 0, 2, 3, 4}}});
  }

  /// decay [.., heads] or [.., heads * size], beta [.., 1 or heads]: a column or one number a head.
  ir::ValueId gate(size_t operand, bool column) {
    const bool wide = column && !view_.type(operand).dim(2).known_equal(heads_);
    return steps(operand, wide ? size_ : 1, 1);
  }

  void finish(BodyBuilder& body, std::span<const ir::ValueId> operands) {
    ir::Builder& b = body.build;
    std::vector<ir::ValueId> x;
    for (size_t k = 0; k < operands.size(); ++k) {
      Type type = build_.graph().value(operands[k]).type;
      if (k > 0) type.shape->erase(type.shape->begin());
      x.push_back(body.input(k == 0 ? "state" : "x" + std::to_string(k), std::move(type)));
    }
    ir::ValueId state = x[0], value = x[3];
    if (view_.has(kDecay)) state = b("Mul", {state, x[4]});
    if (view_.has(kBeta)) value = b("Mul", {b("Sub", {value, b("MatMul", {x[2], state})}), x.back()});
    state = b("Add", {state, b("Mul", {b("Transpose", {x[2]}, {{"perm", Ints{0, 1, 3, 2}}}), value})});
    const ir::ValueId y = b("MatMul", {x[1], state});
    if (!b.status()) return;
    body.graph->add_output(state);
    body.graph->add_output(y);
  }

  ir::Builder& build_;
  const NodeView& view_;
  std::span<const ir::ValueId> in_;
  int64_t heads_, query_heads_, size_, value_size_;
  DType state_, wide_;  ///< of the state as declared, and as carried
};

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  for (size_t k : {kQuery, kKey, kValue})
    if (!view.type(k).has_rank() || !view.type(k).dim(2).is_number()) return {};
  for (size_t k : {kDecay, kBeta})
    if (view.has(k) && (!view.type(k).has_rank() || !view.type(k).dim(2).is_number())) return {};
  return Definition(build, view, in).run();
}

}  // namespace

OP(linear_attention) {
    .name = "LinearAttention",
    .since_version = 27,
    .inputs = {{"query", "key", "value", "past_state?", "decay?", "beta?"}},
    .outputs = {{"output", "present_state"}},
    .attributes = {{"chunk_size: int = 64", "kv_num_heads: int!", "q_num_heads: int!", "scale: float = 0.0",
                    "update_rule: string = gated_delta"}},
    .infer = infer,
    .reference = evaluate,
    .definition = define,
    .first_opset = 27,
    .samples = {{"f32[2,3,8], f32[2,3,8], f32[2,3,6]; q_num_heads=2, kv_num_heads=2, update_rule=linear, outputs=2",
                 "f32[1,4,8], f32[1,4,4], f32[1,4,6], f32[1,2,2,3], f32[1,4,2], f32[1,4,1]; q_num_heads=4, kv_num_heads=2, outputs=2",
                 "f32[1,4,8], f32[1,4,4], f32[1,4,6], _, f32[1,4,4]; q_num_heads=4, kv_num_heads=2, update_rule=gated, outputs=2",
                 "f16[1,3,4], f16[1,3,4], f16[1,3,4]; q_num_heads=1, kv_num_heads=1, update_rule=linear, outputs=2"}},
};

}  // namespace tenon::ops::op_linear_attention
