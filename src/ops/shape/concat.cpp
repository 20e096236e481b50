// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/elements.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_concat {

namespace {

Result<void> infer_concat(NodeView& view) {
  size_t known = view.inputs.size();
  DType dtype = DType::none;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    TRY(require_same_dtype(view, 0, i));
    if (dtype == DType::none) dtype = dtype_of(view, i);
    if (known == view.inputs.size() && view.type(i).has_rank()) known = i;
  }
  Type type(dtype);
  set_output(view, 0, type);
  if (known == view.inputs.size()) return {};
  const int rank = view.rank(known);
  const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), rank));
  DimList shape = *view.type(known).shape;
  Dim total = 0;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    TRY(require_rank(view, i, rank));
    if (!view.type(i).has_rank()) {
      total = view.symbols->fresh();
      break;
    }
    for (int a = 0; a < rank; ++a) {
      if (a == axis) continue;
      TRY(require_equal(view, shape[static_cast<size_t>(a)], view.type(i).dim(a), "sizes off the joined axis"));
      if (view.type(i).dim(a).is_number()) shape[static_cast<size_t>(a)] = view.type(i).dim(a);
    }
    total = total + view.type(i).dim(axis);
  }
  shape[static_cast<size_t>(axis)] = total;
  type.shape = std::move(shape);
  set_output(view, 0, std::move(type));
  if (rank != 1) return {};
  ShapeData data;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    const auto part = known_elements(view, i);
    if (!part) return {};
    data.insert(data.end(), part->begin(), part->end());
  }
  set_data(view, 0, std::move(data));
  return {};
}

/// One loop for each operand; it writes the operand's range of the concatenated axis.
Result<LoopForm> form_of_concat(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Type& result = view.outputs[0];
  const int rank = result.rank();
  const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), rank));
  std::vector<Loop> loops;
  Dim begin = 0;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    Loop loop;
    loop.axes = parallel_axes(*view.type(i).shape);
    const Expr value = load(loop, operand_access(view, i, axis_indices(rank)));
    Output out = full_output(result.dtype, *result.shape, value);
    out.index = axis_indices(rank);
    if (i > 0) out.index[static_cast<size_t>(axis)] = Expr::axis(axis) + size_expr(begin);
    out.partial = view.inputs.size() > 1;
    loop.outputs.push_back(std::move(out));
    loops.push_back(std::move(loop));
    begin = begin + view.type(i).dim(axis);
  }
  return loop_sequence_form(std::move(loops));
}

Result<void> reference_of_concat(Call& call) {
  const Tensor& first = *call.in[0];
  const int axis = TRY(normalise_axis(call.view, call.view.attributes->integer("axis", 0), first.rank()));
  const size_t a = static_cast<size_t>(axis);
  Sizes shape = first.shape();
  shape[a] = 0;
  for (const Tensor* part : call.in) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (part->rank() != first.rank() || (d != a && part->shape()[d] != shape[d]))
        return refuse(call.view, Code::shape_mismatch, "parts differ in shape");
    }
    shape[a] += part->shape()[a];
  }
  Tensor* out = TRY(call.make(0, shape));
  int64_t inner = 1, outer = 1, begin = 0;
  for (size_t d = 0; d < shape.size(); ++d) (d < a ? outer : d > a ? inner : begin) *= shape[d];
  for (const Tensor* part : call.in) {
    const int64_t run = part->shape()[a] * inner;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < run; ++k) copy_element(*out, o * shape[a] * inner + begin + k, *part, o * run + k);
    }
    begin += run;
  }
  return {};
}

Folded fold_concat(const NodeView& view, std::span<const ir::ConstantRef> in) {
  const auto axis = normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0));
  return axis ? Folded(std::vector{ir::concat({in.begin(), in.end()}, *axis)}) : std::nullopt;
}

/// Before opset 4 the axis could be left out.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset < 4) default_attribute(graph, node, "axis", int64_t{1});
  return {};
}

}  // namespace

OP(concat) {
    .name = "Concat",
    .since_version = 13,
    .inputs = {{"inputs_0", "inputs*"}},
    .outputs = {{"result"}},
    .attributes = {{"axis: int!"}},
    .infer = infer_concat,
    .loop_form = form_of_concat,
    .fold = fold_concat,
    .reference = reference_of_concat,
    .upgrade = upgrade,
    .samples = {{"f32[2,3], f32[2,1]; axis=1", "f32[2,3], f32[1,3], f32[3,3]; axis=-2", "f16[4]; axis=0", "i64[0], i64[2]; axis=0",
                 "f64[2,0], f64[2,2]; axis=1", "bool[1,2,1], bool[1,2,1]; axis=2", "u8[2], u8[1]; axis=-1",
                 "f8e4m3fn[2,1], f8e4m3fn[2,2]; axis=1"}},
};

}  // namespace tenon::ops::op_concat
