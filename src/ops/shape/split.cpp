// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_split {

namespace {

/// Sizes of the parts where they are known.
Result<std::optional<DimList>> parts_of(const NodeView& view, Dim size, size_t results) {
  if (view.has(1)) {
    const auto given = known_elements(view, 1);
    if (!given) return std::optional<DimList>();
    if (given->size() != results) {
      return refuse(view, Code::shape_mismatch, "split has a wrong length")
          .expected(std::to_string(results))
          .found(std::to_string(given->size()));
    }
    TRY(require_equal(
        view, product({size}),
        [&] {
          Dim n = 0;
          for (Dim d : *given) n = n + d;
          return n;
        }(),
        "the sum of the parts and the axis"));
    return std::optional<DimList>(*given);
  }
  const int64_t n = static_cast<int64_t>(results);
  const Dim each = ceil_div(size, n);
  DimList out(results, each);
  out.back() = size - each * (n - 1);
  // With fewer than (n-1)^2 elements the last parts may be empty: 5 elements in 4 parts are 2, 2, 1 and 0.
  if (n > 2 && size.lower() < (n - 1) * (n - 1) && !size.known_equal(each * n))
    for (int64_t k = 0; k < n; ++k) out[static_cast<size_t>(k)] = max(0, min(each, size - each * k));
  return std::optional<DimList>(std::move(out));
}

Result<void> infer_split(NodeView& view) {
  const size_t results = view.outputs.size();
  if (view.has(1)) TRY(require_dtype(view, 1, is_index, "i64"));
  for (size_t k = 0; k < results; ++k) set_output(view, k, Type(dtype_of(view, 0)));
  if (!ranks_known(view, {0})) return {};
  const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0)));
  const int64_t wanted = view.attributes->integer("num_outputs", static_cast<int64_t>(results));
  if (wanted != static_cast<int64_t>(results)) return refuse(view, Code::bad_attribute, "num_outputs differs from the number of results");
  const auto parts = TRY(parts_of(view, view.type(0).dim(axis), results));
  for (size_t k = 0; k < results; ++k) {
    Type type = view.type(0);
    (*type.shape)[static_cast<size_t>(axis)] = parts ? (*parts)[k] : view.symbols->fresh();
    set_output(view, k, std::move(type));
  }
  const auto data = known_elements(view, 0);
  const auto sizes = parts ? static_sizes(*parts) : std::nullopt;
  if (!data || !sizes || view.rank(0) != 1) return {};
  int64_t begin = 0;
  for (size_t k = 0; k < results; ++k) {
    set_data(view, k, ShapeData(data->begin() + begin, data->begin() + begin + (*sizes)[k]));
    begin += (*sizes)[k];
  }
  return {};
}

constexpr int64_t kMostParts = 65536;  ///< more are not made of a number alone

size_t results_of_split(const NodeView& view) {
  const auto given = view.has(1) ? view.dims(1) : std::nullopt;
  const int64_t parts = given ? static_cast<int64_t>(given->size()) : view.attributes->integer("num_outputs", 1);
  return parts >= 1 && parts <= kMostParts ? static_cast<size_t>(parts) : 1;
}

Result<LoopForm> form_of_split(const NodeView& view) {
  TRY(require_known_ranks(view));
  const int rank = view.rank(0);
  const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), rank));
  LoopForm form;
  Dim begin = 0;
  for (size_t k = 0; k < view.outputs.size(); ++k) {
    const Type& result = view.outputs[k];
    Loop loop;
    loop.axes = parallel_axes(*result.shape);
    std::vector<Expr> index = axis_indices(rank);
    if (k > 0) index[static_cast<size_t>(axis)] = Expr::axis(axis) + size_expr(begin);
    const Expr value = load(loop, operand_access(view, 0, std::move(index)));
    loop.outputs.push_back(full_output(result.dtype, *result.shape, value));
    form.results.push_back({Source::Kind::loop, static_cast<int>(k), 0});
    form.loops.push_back(std::move(loop));
    begin = begin + result.dim(axis);
  }
  return form;
}

Result<void> reference_of_split(Call& call) {
  const Tensor& x = *call.in[0];
  const size_t axis = static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("axis", 0), x.rank())));
  const int64_t n = static_cast<int64_t>(call.view.outputs.size()), size = x.shape()[axis];
  Ints parts = ints_of(call, 1);
  if (!call.has(1)) {
    for (int64_t k = 0, left = size; k < n; ++k, left -= parts.back()) parts.push_back(std::min(ceil_div(size, n), left));
  }
  if (static_cast<int64_t>(parts.size()) != n) return refuse(call.view, Code::shape_mismatch, "split has a wrong length");
  const Sizes strides = strides_of(x.shape());
  int64_t begin = 0;
  for (size_t k = 0; k < parts.size(); ++k) {
    if (parts[k] < 0 || parts[k] > size - begin) return refuse(call.view, Code::shape_mismatch, "the parts are larger than the axis");
    Sizes shape = x.shape();
    shape[axis] = parts[k];
    TRY(gather_elements(call, x, shape, [&](const Sizes& at) { return offset_of(at, strides) + begin * strides[axis]; }, k));
    begin += parts[k];
  }
  if (begin != size) return refuse(call.view, Code::shape_mismatch, "the parts are smaller than the axis");
  return {};
}

Folded fold_split(const NodeView& view, std::span<const ir::ConstantRef> in) {
  const auto axis = normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0));
  if (!axis) return std::nullopt;
  std::vector<ir::ConstantRef> parts;
  int64_t begin = 0;
  for (const Type& result : view.outputs) {
    if (!result.has_rank() || !result.dim(*axis).is_number()) return std::nullopt;
    const int64_t end = begin + result.dim(*axis).value();
    parts.push_back(ir::slice(in[0], *axis, begin, end));
    begin = end;
  }
  return parts;
}

/// Before opset 2 the sizes had the data's dtype.
Result<void> cast_sizes_to_i64(ir::Graph& graph, ir::NodeId node) {
  ir::Builder build(graph, node);
  const ir::ValueId given = graph.node(node).inputs[1];
  if (!given) return {};
  const Tensor* known = graph.tensor_of(given);
  const ir::ValueId sizes =
      known ? build.constant(TRY(converted(*known, DType::i64))) : build("Cast", {given}, {{"to", static_cast<int64_t>(DType::i64)}});
  TRY(build.status());
  graph.set_operand(node, 1, sizes);
  return {};
}

Result<void> upgrade_split(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset < 2 && graph.node(node).inputs.size() > 1) TRY(cast_sizes_to_i64(graph, node));
  if (opset < 13) TRY(attribute_to_operand(graph, node, "split", 1));
  // Since opset 18 either `split` or `num_outputs` is required.
  const bool says = graph.node(node).inputs.size() > 1 && graph.node(node).inputs[1];
  if (opset < 18 && !says) graph.set_attribute(node, "num_outputs", static_cast<int64_t>(graph.node(node).outputs.size()));
  return {};
}

/// The parts are equal, so that their number suffices.
bool parts_are_equal(const NodeView& view) {
  if (view.has(1) || !view.type(0).has_rank()) return false;
  const auto axis = normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0));
  const Dim size = axis ? view.type(0).dim(*axis) : Dim(1);
  const auto count = static_cast<int64_t>(view.outputs.size());
  return axis && (floor_div(size, count) * count).known_equal(size);
}

int lowest_opset_of_split(const NodeView& view) {
  if (view.has(1)) return view.inputs[1].constant ? 7 : 13;
  return parts_are_equal(view) ? 7 : view.type(0).has_rank() && view.outputs[0].is_static() ? 7 : 18;
}

/// Before opset 18 parts that differ were listed, before 13 in an attribute.
Result<void> downgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  const NodeView view = graph.view(node);
  graph.erase_attribute(node, "num_outputs");
  if (!view.has(1) && !parts_are_equal(view)) {
    const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0)));
    Ints sizes;
    for (const Type& part : view.outputs) sizes.push_back(part.dim(axis).value());
    const auto count = static_cast<int64_t>(sizes.size());
    put_operand(graph, node, 1, graph.add_constant(ir::constant_of(Tensor::of_i64({count}, sizes))));
  }
  return opset < 13 ? operand_to_attribute(graph, node, 1, "split") : Result<void>();
}

/// The sizes of the parts where equal ones leave nothing for the last, which the package onnx cannot infer.
Result<void> make_parts_explicit(ir::Graph& graph, ir::NodeId node, int /*opset*/) {
  const NodeView view = graph.view(node);
  if (view.has(1) || view.attributes->has("split") || !view.type(0).has_rank()) return {};
  const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0)));
  ir::Ints parts;
  for (const Type& part : view.outputs) {
    const auto size = part.has_rank() ? part.dim(axis).number() : std::nullopt;
    if (!size) return {};
    parts.push_back(*size);
  }
  if (parts.empty() || parts.back() > 0) return {};
  graph.erase_attribute(node, "num_outputs");
  put_operand(graph, node, 1, graph.add_constant(ir::constant_of(Tensor::of_i64({static_cast<int64_t>(parts.size())}, parts))));
  return {};
}

}  // namespace

OP(split) {
    .name = "Split",
    .since_version = 18,
    .inputs = {{"input", "split?"}},
    .outputs = {{"outputs*"}},
    .attributes = {{"axis: int = 0", "num_outputs: int"}},
    .infer = infer_split,
    .result_count = results_of_split,
    .loop_form = form_of_split,
    .fold = fold_split,
    .reference = reference_of_split,
    .upgrade = upgrade_split,
    .lowest_opset = lowest_opset_of_split,
    .downgrade = downgrade,
    .make_explicit = make_parts_explicit,
    .samples = {{"f32[6,2]; num_outputs=3, outputs=3", "f32[2,6], i64[2] = [2, 4]; axis=1, outputs=2", "f16[7]; num_outputs=3, outputs=3",
                 "i64[4], i64[3] = [0, 3, 1]; axis=-1, outputs=3", "f32[5]; num_outputs=4, outputs=4", "f64[0,2]; num_outputs=2, outputs=2",
                 "bool[3]; num_outputs=1"}},
};

}  // namespace tenon::ops::op_split
