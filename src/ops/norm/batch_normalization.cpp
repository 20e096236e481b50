// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/norm/statistics.h"

namespace tenon::ops::op_batch_normalization {

namespace {

bool is_training(const NodeView& view) { return view.attributes->integer("training_mode", 0) != 0; }

std::vector<int> all_but_channels(int rank) {
  std::vector<int> row;
  for (int k = 0; k < rank; ++k)
    if (k != 1) row.push_back(k);
  return row;
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 1, -1));
  if (view.type(0).has_rank()) {
    const Dim channels = view.rank(0) > 1 ? view.type(0).dim(1) : Dim(1);
    for (size_t k : {1, 2, 3, 4}) TRY(require_vector(view, k, channels, "number of channels and length of scale, B, mean or variance"));
  }
  if (!is_training(view) && view.outputs.size() > 1) {
    return refuse(view, Code::bad_attribute, "more than one output needs training_mode")
        .advice("drop all outputs but Y, or set training_mode to 1");
  }
  set_output(view, 0, view.type(0));
  set_output(view, 1, view.type(3));
  set_output(view, 2, view.type(4));
  return {};
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  if (is_training(view)) return refuse(view, Code::not_supported, "not supported yet: a loop form in training mode");
  const DimList& shape = *view.type(0).shape;
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  RowLoop map = map_rows(shape, {});
  const Expr channel = view.rank(0) > 1 ? Expr::axis(1) : index_constant(0);
  auto parameter = [&](size_t k) { return cast(load(map.loop, operand_access(view, k, {channel})), wide); };
  const Expr x = map.load_operand(view, 0), scale = parameter(1), bias = parameter(2), mean = parameter(3), variance = parameter(4);
  const Expr epsilon = Expr::constant(wide, view.attributes->number("epsilon", 1e-5f));
  add_output(map, dtype, shape, (x - mean) * (scale / sqrt(variance + epsilon)) + bias);
  return single_loop_form(std::move(map.loop));
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const double epsilon = call.view.attributes->number("epsilon", 1e-5f), momentum = call.view.attributes->number("momentum", 0.9f);
  std::vector<double> x = numbers_of(t), mean = numbers_of(*call.in[3]), variance = numbers_of(*call.in[4]);
  if (is_training(call.view)) {
    const RowMoments now = moments_of(x, row_offsets(t.shape(), all_but_channels(t.rank())));
    std::vector<double> running_mean(mean.size()), running_variance(mean.size());
    for (size_t c = 0; c < mean.size(); ++c) {
      running_mean[c] = mean[c] * momentum + now.mean[c] * (1 - momentum);
      running_variance[c] = variance[c] * momentum + now.variance[c] * (1 - momentum);
    }
    if (call.out.size() > 1) store_numbers(*TRY(call.make(1, call.in[3]->shape())), running_mean);
    if (call.out.size() > 2) store_numbers(*TRY(call.make(2, call.in[4]->shape())), running_variance);
    mean = now.mean;
    variance = now.variance;
  }
  const int64_t channels = t.rank() > 1 ? t.shape()[1] : 1, inner = t.rank() > 1 ? strides_of(t.shape())[1] : 1;
  for (int64_t i = 0; i < t.count(); ++i) {
    const int64_t c = t.rank() > 1 ? i / inner % channels : 0;
    x[i] = (x[i] - mean[c]) / std::sqrt(variance[c] + epsilon) * call.in[1]->number(c) + call.in[2]->number(c);
  }
  store_numbers(*TRY(call.make(0, t.shape())), x);
  return {};
}

/// Training mode: normalises by the moments of the batch and updates the running moments.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!view.type(0).has_rank()) return {};
  const std::vector<int> row = all_but_channels(view.rank(0));
  const Ints axes(row.begin(), row.end());
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  Ints column(static_cast<size_t>(view.rank(0)), 1);
  if (view.rank(0) > 1) column[1] = -1;
  auto number = [&](double n) { return build.scalar(wide, n); };
  auto parameter = [&](size_t k) { return build("Reshape", {cast_to(build, in[k], wide), build.ints(column)}); };
  auto average = [&](ir::ValueId v) { return axes.empty() ? v : build("ReduceMean", {v, build.ints(axes)}); };
  const ir::ValueId x = cast_to(build, in[0], wide), mean = is_training(view) ? average(x) : parameter(3),
                    centred = build("Sub", {x, mean});
  const ir::ValueId variance = is_training(view) ? average(build("Mul", {centred, centred})) : parameter(4);
  const ir::ValueId root = build("Sqrt", {build("Add", {variance, number(view.attributes->number("epsilon", 1e-5f))})});
  const ir::ValueId y = build("Add", {build("Mul", {build("Div", {centred, root}), parameter(1)}), parameter(2)});
  const double momentum = view.attributes->number("momentum", 0.9f);
  auto running = [&](size_t k, ir::ValueId now) {
    const ir::ValueId kept = build("Mul", {cast_to(build, in[k], wide), number(momentum)});
    const ir::ValueId fresh = build("Mul", {build("Reshape", {now, build.ints({-1})}), number(1 - momentum)});
    return cast_to(build, build("Add", {kept, fresh}), view.type(k).dtype);
  };
  std::vector<ir::ValueId> out{cast_to(build, y, dtype)};
  if (view.outputs.size() > 1) out.push_back(running(3, mean));
  if (view.outputs.size() > 2) out.push_back(running(4, variance));
  return out;
}

/// Before opset 14 more outputs meant training; `spatial` (opset 7 and 8) is supported as 1 only.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  const ir::Node& n = graph.node(node);
  if (opset < 9) {
    if (n.attributes.integer("spatial", 1) != 1) return refuse(graph.view(node), Code::not_supported, "not supported yet: spatial=0");
    graph.erase_attribute(node, "spatial");
  }
  if (opset < 7) {
    if (n.attributes.integer("is_test", 0) == 0)
      return refuse(graph.view(node), Code::not_supported, "not supported yet: is_test=0 below opset 7");
    graph.erase_attribute(node, "is_test");
  }
  return {};
}

}  // namespace

OP(batch_normalization) {
    .name = "BatchNormalization",
    .since_version = 15,
    .inputs = {{"X", "scale", "B", "input_mean", "input_var"}},
    .outputs = {{"Y", "running_mean? unless training_mode", "running_var? unless training_mode"}},
    .attributes = {{"epsilon: float = 1e-05", "momentum: float = 0.9", "training_mode: int = 0", "spatial: int"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .definition = define,
    .upgrade = upgrade,
    .lowest_opset = [](const NodeView& view) { return is_training(view) || view.type(0).dtype == DType::bf16 ? 15 : 9; },
    .downgrade = [](ir::Graph& graph, ir::NodeId node, int opset) -> Result<void> {
      if (opset < 14) graph.erase_attribute(node, "training_mode");
      return {};
    },
    .samples = {{"f32[2,3,4,5], f32[3], f32[3], f32[3], f32[3] in 0.1..2",
                 "f32[4,3], f32[3], f32[3], f32[3], f32[3] in 0.1..2; epsilon=0.01", "f16[2,3,4], f16[3], f16[3], f16[3], f16[3] in 0.5..2",
                 "f64[1,2,2,2,2], f64[2], f64[2], f64[2], f64[2] in 0.1..2",
                 "f32[2,3,4,5], f32[3], f32[3], f32[3], f32[3] in 0.1..2; training_mode=1, outputs=3",
                 "f32[0,3,2,2], f32[3], f32[3], f32[3], f32[3] in 0.1..2"}},
};

}  // namespace tenon::ops::op_batch_normalization
