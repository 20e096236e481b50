// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <span>

#include "ops/definition/precision.h"
#include "ops/infer/require.h"
#include "ops/norm/statistics.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops::op_group_normalization {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 2, -1));
  if (view.type(0).has_rank()) {
    const int64_t groups = view.attributes->integer("num_groups", 1);
    const Dim channels = view.type(0).dim(1);
    if (groups < 1 || (channels.is_number() && channels.value() % groups != 0)) {
      return refuse(view, Code::bad_attribute, "num_groups must divide the channels")
          .expected("a divisor of " + channels.text())
          .found(std::to_string(groups));
    }
    TRY(require_equal(view, floor_div(channels, groups) * groups, channels, "channels and a multiple of num_groups"));
    for (size_t k : {1, 2}) TRY(require_vector(view, k, channels, "number of channels and length of scale or bias"));
  }
  set_output(view, 0, view.type(0));
  return {};
}

/// Counts in the index space [N, group, channel of the group, spatial...]; the group's channels and the spatial axes are a row.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Type& x = view.type(0);
  const int64_t groups = view.attributes->integer("num_groups", 1);
  const Dim per_group = floor_div(x.dim(1), groups);
  DimList space{x.dim(0), groups, per_group};
  for (const Dim& d : spatial_of(x)) space.push_back(d);
  const std::vector<int> row = axes_from(2, static_cast<int>(space.size()));
  const DType wide = statistics_dtype(x.dtype);
  auto position = [&](const RowLoop& rows) {
    std::vector<Expr> index{rows.element_index[0], rows.element_index[1] * size_expr(per_group) + rows.element_index[2]};
    index.insert(index.end(), rows.element_index.begin() + 3, rows.element_index.end());
    return index;
  };
  auto element = [&](RowLoop& rows) { return cast(load(rows.loop, operand_access(view, 0, position(rows))), wide); };
  std::vector<Loop> loops;
  const RowStatistics s = add_statistics(loops, space, row, wide, element, view.attributes->number("epsilon", 1e-5f));
  RowLoop last = map_rows(space, row);
  const Expr normalised = (element(last) - last.load_of_row(s.mean, wide)) * last.load_of_row(s.inv_std_dev, wide);
  const std::vector<Expr> to = position(last);
  auto parameter = [&](size_t k) { return cast(load(last.loop, operand_access(view, k, {to[1]})), wide); };
  const Expr scale = parameter(1), bias = parameter(2);
  add_output(last, x.dtype, *x.shape, normalised * scale + bias);
  last.loop.outputs.back().index = to;
  loops.push_back(std::move(last.loop));
  return loop_sequence_form(std::move(loops));
}

/// Normalises each row to mean 0 and variance 1.
void normalise(std::span<double> row, double epsilon) {
  double sum = 0, squares = 0;
  for (double x : row) sum += x;
  const double mean = sum / static_cast<double>(row.size());
  for (double x : row) squares += (x - mean) * (x - mean);
  const double root = std::sqrt(squares / static_cast<double>(row.size()) + epsilon);
  for (double& x : row) x = (x - mean) / root;
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const int64_t groups = call.view.attributes->integer("num_groups", 1), channels = t.shape()[1];
  if (groups < 1 || channels % groups != 0) return refuse(call.view, Code::bad_attribute, "num_groups must divide the channels");
  std::vector<double> x = numbers_of(t);
  const int64_t plane = count_of(Sizes(t.shape().begin() + 2, t.shape().end())), row = channels / groups * plane;
  const double epsilon = call.view.attributes->number("epsilon", 1e-5f);
  for (int64_t first = 0; first + row <= t.count() && row > 0; first += row) {
    normalise(std::span(x).subspan(static_cast<size_t>(first), static_cast<size_t>(row)), epsilon);
    for (int64_t i = first; i < first + row; ++i) {
      const int64_t c = i / plane % channels;
      x[i] = x[i] * call.in[1]->number(c) + call.in[2]->number(c);
    }
  }
  store_numbers(*TRY(call.make(0, t.shape())), x);
  return {};
}

/// Opset 18 has one scale and bias a group: each is repeated for the group's channels.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 21) return {};
  const ir::NodeView view = graph.view(node);
  const int64_t groups = view.attributes->integer("num_groups", 1);
  if (!view.type(0).has_rank() || !view.type(0).dim(1).is_number() || groups < 1) {
    return refuse(view, Code::not_supported, "not supported yet: opset below 21 with an unknown number of channels");
  }
  const int64_t channels = view.type(0).dim(1).value();
  ir::Builder build(graph, node);
  for (uint32_t k : {1u, 2u}) {
    const ir::ValueId column = build("Unsqueeze", {graph.node(node).inputs[k], build.ints({1})});
    const ir::ValueId spread = build("Expand", {column, build.ints({groups, channels / groups})});
    const ir::ValueId each = build("Reshape", {spread, build.ints({channels})});
    TRY(build.status());
    graph.set_operand(node, k, each);
  }
  return {};
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!view.type(0).has_rank()) return {};
  const DType dtype = view.type(0).dtype, wide = definition_dtype(dtype);
  const ir::ValueId groups = build("Reshape", {in[0], build.ints({0, view.attributes->integer("num_groups", 1), -1})});
  const NormalisedRows rows =
      define_normalised_rows(build, as_dtype(build, groups, dtype, wide), wide, {-1}, view.attributes->number("epsilon", 1e-5f));
  const ir::ValueId normalised =
      build("Reshape", {build("Mul", {rows.centred, rows.inv_std_dev}), build("Shape", {in[0]})}, {{"allowzero", int64_t{1}}});
  Ints column(static_cast<size_t>(view.rank(0)) - 1, 1);  // [C, 1, 1 ...]
  column[0] = -1;
  const auto parameter = [&](size_t k) { return as_dtype(build, build("Reshape", {in[k], build.ints(column)}), dtype, wide); };
  return {as_dtype(build, build("Add", {build("Mul", {normalised, parameter(1)}), parameter(2)}), wide, dtype)};
}

}  // namespace

OP(group_normalization) {
    .name = "GroupNormalization",
    .since_version = 21,
    .inputs = {{"X", "scale", "bias"}},
    .outputs = {{"Y"}},
    .attributes = {{"epsilon: float = 1e-05", "num_groups: int!", "stash_type: int = 1 since 21"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .definition = define,
    .upgrade = upgrade,
    .lowest_opset = [](const NodeView&) { return 21; },
    .first_opset = 18,
    .samples = {{"f32[2,4,3,3], f32[4], f32[4]; num_groups=2", "f32[1,6,5], f32[6], f32[6]; num_groups=3, epsilon=0.01",
                 "f16[2,4,3,3], f16[4], f16[4]; num_groups=1", "f64[2,3,2], f64[3], f64[3]; num_groups=3"}},
};

}  // namespace tenon::ops::op_group_normalization
