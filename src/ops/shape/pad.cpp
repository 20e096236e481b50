// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_pad {

namespace {

/// Padding before and after each axis; nullopt where operand `pads` is not known. Errors: a wrong length.
struct Pads {
  DimList begin, end;
  bool known = false;
};

Result<Pads> pads_of(const NodeView& view) {
  const size_t rank = static_cast<size_t>(view.rank(0));
  const auto amounts = known_elements(view, 1);
  const auto axes = view.has(3) ? known_ints(view, 3) : std::nullopt;
  Pads p{DimList(rank, 0), DimList(rank, 0), amounts && (axes || !view.has(3))};
  if (!p.known) return p;
  std::vector<int> order;
  if (axes) order = TRY(normalise_axes(view, *axes, view.rank(0), false));
  else
    for (size_t a = 0; a < rank; ++a) order.push_back(static_cast<int>(a));
  if (amounts->size() != 2 * order.size()) {
    return refuse(view, Code::shape_mismatch, "pads has a wrong length")
        .expected(std::to_string(2 * order.size()))
        .found(std::to_string(amounts->size()));
  }
  for (size_t i = 0; i < order.size(); ++i) {
    p.begin[static_cast<size_t>(order[i])] = (*amounts)[i];
    p.end[static_cast<size_t>(order[i])] = (*amounts)[i + order.size()];
  }
  return p;
}

Result<void> infer_pad(NodeView& view) {
  Type type(dtype_of(view, 0));
  set_output(view, 0, type);
  if (!ranks_known(view, {0})) return {};
  const Pads p = TRY(pads_of(view));
  DimList shape;
  const bool copies = view.attributes->text("mode", "constant") != "constant";
  for (size_t a = 0; a < p.begin.size(); ++a) {
    const Dim size = view.type(0).dim(static_cast<int>(a));
    shape.push_back(p.known ? size + p.begin[a] + p.end[a] : view.symbols->fresh());
    if (copies && p.known) TRY(require_at_least(view, size, min(shape.back(), 1), "there is nothing to pad with"));
  }
  type.shape = std::move(shape);
  set_output(view, 0, std::move(type));
  return {};
}

/// The index that padded position `at` (which may lie outside of 0..size-1) reads.
Expr inner_index(const std::string& mode, Expr at, Dim size) {
  const Expr n = size_expr(size);
  if (mode == "edge") return max(min(at, size_expr(size - 1)), index_constant(0));
  if (mode == "wrap") return binary(ExprOp::mod, at, n);
  const Expr period = size_expr(max(size - 1, 1) * 2), offset = binary(ExprOp::mod, at, period);  // reflect
  return min(min(offset, period - offset), size_expr(size - 1));                                  // of one element, that one
}

Result<LoopForm> form_of_pad(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Pads p = TRY(pads_of(view));
  if (!p.known) return refuse(view, Code::not_supported, "not supported yet: a loop form for pads that are not known");
  const std::string mode = view.attributes->text("mode", "constant");
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  std::vector<Expr> index;
  Expr within;
  for (int a = 0; a < view.rank(0); ++a) {
    const Dim begin = p.begin[static_cast<size_t>(a)], end = p.end[static_cast<size_t>(a)];
    const Expr at = begin == Dim(0) ? Expr::axis(a) : Expr::axis(a) - size_expr(begin);
    if (begin == Dim(0) && end == Dim(0)) {
      index.push_back(at);
    } else if (mode != "constant") {
      index.push_back(inner_index(mode, at, view.type(0).dim(a)));
    } else {
      index.push_back(at);
      const Expr here = logical_and(index_constant(0) <= at, at < size_expr(view.type(0).dim(a)));
      within = within ? logical_and(within, here) : here;
    }
  }
  Access access = operand_access(view, 0, std::move(index));
  if (within) {
    access.within = within;
    const DType d = access.dtype;
    access.fill = view.has(2) ? load(loop, operand_access(view, 2, std::vector<Expr>(static_cast<size_t>(view.rank(2)), index_constant(0))))
                  : is_float(d) ? Expr::constant(d, 0)
                                : Expr::integer(d, 0);
  }
  const Expr value = load(loop, std::move(access));
  loop.outputs.push_back(full_output(result.dtype, *result.shape, value));
  return single_loop_form(std::move(loop));
}

/// Source index on one axis; -1: the fill value.
int64_t source_of(const std::string& mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  if (mode == "constant") return -1;
  if (mode == "edge") return at < 0 ? 0 : size - 1;
  if (mode == "wrap") return floor_mod(at, size);
  const int64_t period = std::max<int64_t>(2 * (size - 1), 1), offset = floor_mod(at, period);
  return offset < size ? offset : period - offset;
}

bool is_valid_padding(int64_t pad) { return pad >= -(int64_t{1} << 40) && pad <= (int64_t{1} << 40); }

Result<void> reference_of_pad(Call& call) {
  const Tensor& x = *call.in[0];
  const std::string mode = call.view.attributes->text("mode", "constant");
  const size_t rank = x.shape().size();
  const Ints amounts = ints_of(call, 1);
  Ints axes = ints_of(call, 3);
  if (!call.has(3))
    for (size_t a = 0; a < rank; ++a) axes.push_back(static_cast<int64_t>(a));
  if (amounts.size() != 2 * axes.size()) return refuse(call.view, Code::shape_mismatch, "pads has a wrong length");
  Sizes begin(rank, 0), shape = x.shape();
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t a = static_cast<size_t>(TRY(normalise_axis(call.view, axes[i], x.rank())));
    const int64_t before = amounts[i], after = amounts[i + axes.size()];
    if (!is_valid_padding(before) || !is_valid_padding(after)) return refuse(call.view, Code::size_overflow, "a pad is longer than 2^40");
    begin[a] = before;
    shape[a] += before + after;
    if (mode != "constant" && x.shape()[a] == 0 && shape[a] > 0)
      return refuse(call.view, Code::shape_mismatch, "there is nothing to pad with");
  }
  if (!checked_count(shape)) return refuse(call.view, Code::shape_mismatch, "a negative pad is larger than its axis");
  Tensor* out = TRY(call.make(0, shape));
  const Sizes strides = strides_of(x.shape());
  Sizes at(rank, 0);
  for (int64_t i = 0; i < out->count(); ++i) {
    int64_t position = 0;
    for (size_t d = 0; d < rank && position >= 0; ++d) {
      const int64_t from = source_of(mode, at[d] - begin[d], x.shape()[d]);
      position = from < 0 ? -1 : position + from * strides[d];
    }
    if (position >= 0) copy_element(*out, i, x, position);
    else if (call.has(2)) copy_element(*out, i, *call.in[2], 0);
    next_index(at, shape);
  }
  return {};
}

Result<void> upgrade_pad(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 11) return {};
  if (opset < 2) rename_attribute(graph, node, "paddings", "pads");
  const DType known = graph.value(graph.node(node).inputs[0]).type.dtype;
  TRY(attribute_to_operand(graph, node, "pads", 1));
  return attribute_to_operand(graph, node, "value", 2, known == DType::none ? DType::f32 : known);
}

int lowest_opset_of_pad(const NodeView& view) {
  if (view.attributes->text("mode", "constant") == "wrap") return 19;
  if (view.has(3) && !(view.type(0).has_rank() && known_ints(view, 1) && known_ints(view, 3))) return 18;
  return dtype_of(view, 0) == DType::boolean ? 13 : 11;
}

/// Before opset 18 every axis was padded.
Result<void> downgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  const NodeView view = graph.view(node);
  if (opset >= 18 || !view.has(3)) return {};
  const Ints pads = *known_ints(view, 1);
  const std::vector<int> axes = TRY(normalise_axes(view, *known_ints(view, 3), view.rank(0), false));
  const size_t rank = static_cast<size_t>(view.rank(0));
  Ints all(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    all[static_cast<size_t>(axes[i])] = pads[i];
    all[rank + static_cast<size_t>(axes[i])] = pads[axes.size() + i];
  }
  const auto count = static_cast<int64_t>(all.size());
  graph.set_operand(node, 1, graph.add_constant(ir::constant_of(Tensor::of_i64({count}, all))));
  graph.set_operand(node, 3, {});
  return {};
}

/// Constant axes as i64, the only type that shape inference of the package onnx reads them in.
Result<void> cast_axes_to_i64(ir::Graph& graph, ir::NodeId node, int /*opset*/) {
  constexpr uint32_t slot = 3;
  const NodeView view = graph.view(node);
  if (!view.has(slot) || view.type(slot).dtype == DType::i64) return {};
  const auto values = known_ints(view, slot);
  if (!values) return {};
  const auto count = static_cast<int64_t>(values->size());
  graph.set_operand(node, slot, graph.add_constant(ir::constant_of(Tensor::of_i64({count}, *values))));
  return {};
}

}  // namespace

OP(pad) {
    .name = "Pad",
    .since_version = 25,
    .inputs = {{"data", "pads", "constant_value?", "axes?"}},
    .attributes = {{"mode: string = constant"}},
    .infer = infer_pad,
    .loop_form = form_of_pad,
    .reference = reference_of_pad,
    .upgrade = upgrade_pad,
    .lowest_opset = lowest_opset_of_pad,
    .downgrade = downgrade,
    .make_explicit = cast_axes_to_i64,
    .samples = {{"f32[2,3], i64[4] = [0, 1, 1, 2]", "f32[2,3], i64[4] = [0, 1, 1, 2], f32[] = 1.5", "f16[4], i64[2] = [2, 1]; mode=edge",
                 "f32[4], i64[2] = [3, 2]; mode=reflect", "f32[3], i64[2] = [4, 5]; mode=wrap",
                 "i64[2,3], i64[2] = [1, 1], i64[] = 7, i64[1] = [1]", "f64[4], i64[2] = [-1, 2]", "bool[3], i64[2] = [1, 0]",
                 "f32[0], i64[2] = [1, 1]"}},
};

}  // namespace tenon::ops::op_pad
