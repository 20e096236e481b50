// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/core/refuse.h"
#include "ops/core/replace_node.h"
#include "ops/form/loops.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops::op_shape {

namespace {

int64_t clamped_axis(int64_t axis, int64_t rank) { return std::clamp(axis < 0 ? axis + rank : axis, int64_t{0}, rank); }

Result<void> infer_shape(NodeView& view) {
  if (!ranks_known(view, {0})) {
    set_output(view, 0, Type(DType::i64, {view.symbols->fresh()}));
    return {};
  }
  const int64_t rank = view.rank(0);
  const int64_t begin = clamped_axis(view.attributes->integer("start", 0), rank);
  const int64_t end = std::max(begin, clamped_axis(view.attributes->integer("end", rank), rank));
  set_output(view, 0, Type(DType::i64, {end - begin}));
  const DimList& shape = *view.type(0).shape;
  set_data(view, 0, ShapeData(shape.begin() + begin, shape.begin() + end));
  return {};
}

/// The loop form, which depends on sizes alone: selects the size by the position.
Result<LoopForm> form_of_shape(const NodeView& view) {
  TRY(require_known_ranks(view));
  const int64_t rank = view.rank(0), begin = clamped_axis(view.attributes->integer("start", 0), rank);
  const Type& result = view.outputs[0];
  if (!result.dim(0).is_number()) return refuse(view, Code::not_supported, "not supported yet: a loop form of an unknown number of sizes");
  Expr value = index_constant(0);
  for (int64_t i = result.dim(0).value(); i-- > 0;) {
    const Expr size = size_expr(view.type(0).dim(static_cast<int>(begin + i)));
    value = i + 1 == result.dim(0).value() ? size : select(equal(Expr::axis(0), index_constant(i)), size, value);
  }
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  loop.outputs.push_back(full_output(DType::i64, *result.shape, value));
  return single_loop_form(std::move(loop));
}

Result<void> reference_of_shape(Call& call) {
  const Sizes& shape = call.in[0]->shape();
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t begin = clamped_axis(call.view.attributes->integer("start", 0), rank);
  const int64_t end = std::max(begin, clamped_axis(call.view.attributes->integer("end", rank), rank));
  Tensor* out = TRY(call.make(0, {end - begin}));
  store_integers(*out, std::span(shape).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  return {};
}

/// Before opset 15 the whole shape was given: the requested part is cut out.
Result<void> downgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 15 || graph.node(node).attributes.empty()) return {};
  return replace_node(graph, node, [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
    const int64_t begin = view.attributes->integer("start", 0), end = view.attributes->integer("end", INT64_MAX);
    return std::vector{build("Slice", {build("Shape", {in[0]}), build.ints({begin}), build.ints({end})})};
  });
}

}  // namespace

OP(shape) {
    .name = "Shape",
    .since_version = 25,
    .inputs = {{"data"}},
    .outputs = {{"shape"}},
    .attributes = {{"start: int = 0", "end: int"}},
    .infer = infer_shape,
    .loop_form = form_of_shape,
    .reference = reference_of_shape,
    .lowest_opset = [](const NodeView& view) { return view.attributes->empty() ? 7 : 10; },
    .downgrade = downgrade,
    .samples = {{"f32[2,3,4]", "f32[2,3,4]; start=1", "f16[2,3,4]; start=-2, end=-1", "i64[]", "f64[0,3]; end=10",
                 "bool[2,3]; start=2, end=1"}},
};

}  // namespace tenon::ops::op_shape
