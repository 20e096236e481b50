// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/control/bodies.h"
#include "ops/definition/body_builder.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_flex_attention {

namespace {

/// The dtype of scores and probabilities that the bodies get.
DType score_dtype(const NodeView& view) {
  const auto given = dtype_from_onnx(view.attributes->integer("softmax_precision", 0));
  if (given && *given != DType::none) return *given;
  return dtype_of(view, 0) == DType::f64 ? DType::f64 : DType::f32;
}

std::optional<DimList> score_shape(const NodeView& view) {
  if (!ranks_known(view, {0, 1})) return {};
  return DimList{view.type(0).dim(0), view.type(0).dim(1), view.type(0).dim(2), view.type(1).dim(2)};
}

Result<void> infer(NodeView& view) {
  for (size_t k : {0, 1, 2}) {
    TRY(require_dtype(view, k, is_arithmetic_float, "a float type"));
    TRY(require_rank(view, k, 4));
  }
  TRY(require_formal_inputs(view, 1));
  Type out(dtype_of(view, 0));
  if (ranks_known(view, {0, 1, 2})) {
    const Type &q = view.type(0), &k = view.type(1), &v = view.type(2);
    TRY(require_equal(view, q.dim(3), k.dim(3), "head sizes of Q and K"));
    TRY(require_equal(view, q.dim(0), k.dim(0), "batch sizes of Q and K"));
    TRY(require_equal(view, q.dim(0), v.dim(0), "batch sizes of Q and V"));
    TRY(require_equal(view, k.dim(1), v.dim(1), "heads of K and V"));
    TRY(require_equal(view, k.dim(2), v.dim(2), "sequence lengths of K and V"));
    if (q.dim(1).is_number() && k.dim(1).is_number() && (k.dim(1).value() < 1 || q.dim(1).value() % k.dim(1).value() != 0)) {
      return refuse(view, Code::shape_mismatch, "heads of Q must be a multiple of the heads of K")
          .expected("a multiple of " + k.dim(1).text())
          .found(q.dim(1).text());
    }
    out.shape = DimList{q.dim(0), q.dim(1), q.dim(2), v.dim(3)};
  }
  set_output(view, 0, std::move(out));
  return {};
}

std::vector<Type> body_input_types(const NodeView& view, size_t) {
  Type scores(score_dtype(view));
  scores.shape = score_shape(view);
  return {scores};
}

/// Runs the body of that name, if the node has one, over `x` [rows of keys].
Result<void> modify(Call& call, std::string_view name, const Sizes& shape, std::vector<double>& x) {
  for (size_t b = 0; b < call.view.bodies.size(); ++b) {
    if (call.view.body_names[b] != name) continue;
    Tensor t = TRY(Tensor::make(call.wide ? DType::f64 : score_dtype(call.view), shape));
    store_numbers(t, x);
    std::vector<Tensor> in = captures_of(call, b);
    in.insert(in.begin(), std::move(t));
    const std::vector<Tensor> out = TRY(call.run_body(b, std::move(in)));
    if (out.size() != 1 || out[0].shape() != shape)
      return refuse(call.view, Code::shape_mismatch, std::string(name) + " must keep the shape of its operand");
    x = numbers_of(out[0]);
  }
  return {};
}

void softmax_rows(std::vector<double>& x, int64_t columns) {
  for (size_t first = 0; columns > 0 && first < x.size(); first += static_cast<size_t>(columns)) {
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < columns; ++j) top = std::fmax(top, x[first + j]);
    for (int64_t j = 0; j < columns; ++j) sum += x[first + j] = std::exp(x[first + j] - top);
    for (int64_t j = 0; j < columns; ++j) x[first + j] /= sum;
  }
}

Result<void> evaluate(Call& call) {
  const Sizes &qs = call.in[0]->shape(), &vs = call.in[2]->shape();
  const std::vector<double> q = numbers_of(*call.in[0]), k = numbers_of(*call.in[1]), v = numbers_of(*call.in[2]);
  const int64_t heads = qs[1], queries = qs[2], size = qs[3], keys = vs[2], value_size = vs[3], group = vs[1] > 0 ? heads / vs[1] : 1;
  const double scale =
      call.view.attributes->has("scale") ? call.view.attributes->number("scale", 1) : 1 / std::sqrt(static_cast<double>(size));
  const Sizes shape{qs[0], heads, queries, keys};
  std::vector<double> x(count_of(shape));
  auto shared = [&](int64_t row) { return row / queries / heads * vs[1] + row / queries % heads / group; };  // head of K and V of a row
  for (int64_t i = 0; i < count_of(shape); ++i) {
    for (int64_t d = 0; d < size; ++d) x[i] += q[i / keys * size + d] * k[(shared(i / keys) * keys + i % keys) * size + d];
    x[i] *= scale;
  }
  TRY(modify(call, "score_mod", shape, x));
  softmax_rows(x, keys);
  TRY(modify(call, "prob_mod", shape, x));
  std::vector<double> y(qs[0] * heads * queries * value_size);
  for (int64_t i = 0; i < count_of(shape); ++i)
    for (int64_t d = 0; d < value_size; ++d)
      y[i / keys * value_size + d] += x[i] * v[(shared(i / keys) * keys + i % keys) * value_size + d];
  store_numbers(*TRY(call.make(0, {qs[0], heads, queries, value_size})), y);
  return {};
}

/// The body of that name applied to `x`; x where the node has none.
ir::ValueId modified(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in, std::string_view name, ir::ValueId x) {
  for (size_t b = 0; b < view.bodies.size(); ++b) {
    if (view.body_names[b] != name) continue;
    std::vector<ir::ValueId> arguments{x};
    for (ir::ValueId capture : in.subspan(first_capture(view, b), view.body_captures[b])) arguments.push_back(capture);
    const std::vector<ir::ValueId> results = inlined(build, *view.bodies[b], arguments);
    return results.size() == 1 ? results[0] : ir::ValueId{};
  }
  return x;
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {0, 1, 2})) return {};
  const Dim heads = view.type(0).dim(1), shared = view.type(1).dim(1), size = view.type(0).dim(3);
  if (!heads.is_number() || !shared.is_number() || !size.is_number() || !view.type(2).dim(3).is_number()) return {};
  const DType wide = score_dtype(view);
  const int64_t times = heads.value() / std::max<int64_t>(shared.value(), 1);
  // Several heads of Q share a head of K and V.
  auto repeated = [&](size_t operand) {
    const ir::ValueId x = cast_to(build, in[operand], wide);
    if (times == 1) return x;
    const ir::ValueId spread = build("Expand", {build("Unsqueeze", {x, build.ints({2})}), build.ints({1, 1, times, 1, 1})});
    return build("Reshape", {spread, build.ints({0, heads.value(), -1, view.type(operand).dim(3).value()})});
  };
  const double scale =
      view.attributes->has("scale") ? view.attributes->number("scale", 1) : 1 / std::sqrt(static_cast<double>(size.value()));
  const ir::ValueId keys = build("Transpose", {repeated(1)}, {{"perm", Ints{0, 1, 3, 2}}});
  ir::ValueId x = build("Mul", {build("MatMul", {cast_to(build, in[0], wide), keys}), build.scalar(wide, scale)});
  x = modified(build, view, in, "score_mod", x);
  if (!x) return {};
  x = modified(build, view, in, "prob_mod", build("Softmax", {x}, {{"axis", int64_t{-1}}}));
  if (!x) return {};
  return {cast_to(build, build("MatMul", {x, repeated(2)}), dtype_of(view, 0))};
}

}  // namespace

OP(flex_attention) {
    .name = "FlexAttention",
    .domain = "ai.onnx.preview",
    .since_version = 1,
    .inputs = {{"Q", "K", "V"}},
    .outputs = {{"Y"}},
    .attributes = {{"prob_mod: graph", "scale: float", "score_mod: graph", "softmax_precision: int"}},
    .infer = infer,
    .body_input_types = body_input_types,
    .reference = evaluate,
    .definition = define,
    .first_opset = 1,
    .samples = {{"f32[1,2,3,4], f32[1,2,5,4], f32[1,2,5,6]", "f16[2,4,3,4], f16[2,2,5,4], f16[2,2,5,4]; scale=0.5",
                 "f64[1,1,2,3], f64[1,1,4,3], f64[1,1,4,3]"}},
};

}  // namespace tenon::ops::op_flex_attention
