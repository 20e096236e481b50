// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/indices.h"
#include "ops/shape/same_bytes.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_reshape {

namespace {

/// The target sizes: 0 copies the operand's size (unless allowzero), -1 is inferred; a symbol that may be 0 or -1 is taken as a size.
Result<DimList> wanted_shape(const NodeView& view, const ShapeData& wanted) {
  const bool copy_zero = view.attributes->integer("allowzero", 0) == 0;
  DimList out;
  int open = -1;
  Dim known = 1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Dim d = wanted[i];
    if (d == Dim(0) && copy_zero) {
      const bool is_known = ranks_known(view, {0});
      if (is_known && static_cast<int>(i) >= view.rank(0))
        return refuse(view, Code::shape_mismatch, "a 0 is at an axis that the operand lacks");
      d = is_known ? view.type(0).dim(static_cast<int>(i)) : view.symbols->fresh();
    }
    if (d == Dim(-1)) {
      if (open >= 0) return refuse(view, Code::bad_attribute, "more than one -1 in the shape");
      open = static_cast<int>(i);
    } else {
      if (d.is_number() && d.value() < 0) return refuse(view, Code::shape_mismatch, "a size is negative").found(d.text());
      known = known * d;
    }
    out.push_back(d);
  }
  if (open < 0) {
    if (ranks_known(view, {0})) TRY(require_equal(view, view.type(0).count(), known, "element counts"));
    return out;
  }
  if (!ranks_known(view, {0})) {
    out[static_cast<size_t>(open)] = view.symbols->fresh();
    return out;
  }
  // Sizes that both products contain cancel before the division, so that symbols that may be 0 do not remain in the divisor.
  DimList left = *view.type(0).shape, right;
  for (size_t i = 0; i < out.size(); ++i) {
    if (static_cast<int>(i) == open) continue;
    auto same = std::find(left.begin(), left.end(), out[i]);
    if (same != left.end()) left.erase(same);
    else right.push_back(out[i]);
  }
  const Dim above = product(left), below = product(right);
  if (above.is_number() && below.is_number() && (below.value() == 0 ? above.value() != 0 : above.value() % below.value() != 0)) {
    return refuse(view, Code::shape_mismatch, "the elements cannot be divided as the shape says")
        .expected("a multiple of " + below.text())
        .found(above.text());
  }
  Dim& left_over = out[static_cast<size_t>(open)];
  if (const auto exact = exact_quotient(above, below)) {
    left_over = *exact;
    return out;
  }
  left_over = below == Dim(0) ? Dim(0) : floor_div(above, max(below, 1));
  TRY(require_equal(view, above, left_over * below, "the elements and the sizes that the shape gives"));
  return out;
}

Result<void> infer_reshape(NodeView& view) {
  TRY(require_dtype(view, 1, is_index, "i64"));
  Type type(dtype_of(view, 0));
  if (const auto wanted = known_elements(view, 1)) {
    type.shape = TRY(wanted_shape(view, *wanted));
    pass_data(view);
  } else if (const auto rank = known_length(view, 1)) {
    DimList fresh;
    for (int64_t i = 0; i < *rank; ++i) fresh.push_back(view.symbols->fresh());
    type.shape = std::move(fresh);
  }
  set_output(view, 0, std::move(type));
  pass_data(view);
  return {};
}

Result<LoopForm> form_of_reshape(const NodeView& view) {
  TRY(require_known_ranks(view));
  return index_form(view, 0, reshape_index(*view.type(0).shape, *view.outputs[0].shape));
}

Result<void> reference_of_reshape(Call& call) {
  const Tensor& x = *call.in[0];
  const bool copy_zero = call.view.attributes->integer("allowzero", 0) == 0;
  Sizes shape = ints_of(call, 1);
  Sizes rest = x.shape();  // without the sizes that a 0 copies
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && copy_zero && static_cast<int>(i) < x.rank()) {
      shape[i] = x.shape()[i];
      rest[i] = 1;
    } else if (shape[i] == -1) {
      open = static_cast<int64_t>(i);
    } else {
      const auto product = checked_mul(known, shape[i]);
      if (!product) return refuse(call.view, Code::size_overflow, "the shape is too large");
      known = *product;
    }
  }
  if (open >= 0) shape[static_cast<size_t>(open)] = known == 0 ? 0 : count_of(rest) / known;
  const auto count = checked_count(shape);
  if (!count || *count != x.count())
    return refuse(call.view, Code::shape_mismatch, "element counts differ").expected(std::to_string(x.count()));
  call.out[0] = x.reshaped(shape);
  return {};
}

/// Elements of the target that may be 0 at the run where the operand's size there need not be: before opset 14 such a 0 would copy that
/// size. nullopt where the elements are not known.
std::optional<std::vector<size_t>> ambiguous_zeros(const NodeView& view) {
  std::vector<size_t> out;
  if (view.attributes->integer("allowzero", 0) == 0) return out;
  const auto wanted = known_elements(view, 1);
  if (!wanted || !view.type(0).has_rank()) return std::nullopt;
  for (size_t i = 0; i < wanted->size(); ++i) {
    const Dim d = (*wanted)[i];
    if (d == Dim(-1) || d.lower() > 0) continue;
    const bool copies_zero = static_cast<int>(i) < view.rank(0) && exact_quotient(view.type(0).dim(static_cast<int>(i)), d);
    if (!copies_zero) out.push_back(i);
  }
  return out;
}

int lowest_opset_of_reshape(const NodeView& view) {
  const auto zeros = ambiguous_zeros(view);
  const auto wanted = known_elements(view, 1);
  const bool open = wanted && std::find(wanted->begin(), wanted->end(), Dim(-1)) != wanted->end();
  if (!zeros || zeros->size() > 1 || (open && !zeros->empty())) return 14;
  return zeros->empty() ? 7 : 9;
}

/// Replaces one size that may be 0 by -1.
Result<void> downgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 14) return {};
  const NodeView view = graph.view(node);
  const auto zeros = ambiguous_zeros(view);
  graph.erase_attribute(node, "allowzero");
  if (!zeros || zeros->empty()) return {};
  Tensor mask = TRY(Tensor::make(DType::boolean, {view.outputs[0].rank()}));
  mask.set_integer(static_cast<int64_t>(zeros->front()), 1);
  ir::Builder build(graph, node);
  const ir::ValueId shape = build("Where", {build.constant(std::move(mask)), build.ints({-1}), graph.node(node).inputs[1]});
  TRY(build.status());
  graph.set_operand(node, 1, shape);
  return {};
}

Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  return opset < 5 ? attribute_to_operand(graph, node, "shape", 1) : Result<void>();
}

/// A target size of 0 that copies a size of 0: a -1 in the same target has no value that the package onnx can infer.
bool copies_zero(const Type& from, const ir::Ints& shape) {
  for (size_t k = 0; k < std::min(shape.size(), from.shape->size()); ++k)
    if (shape[k] == 0 && (*from.shape)[k] == Dim(0)) return true;
  return false;
}

/// Sizes in place of -1 where the input has no elements.
Result<void> make_shape_explicit(ir::Graph& graph, ir::NodeId node, int /*opset*/) {
  const NodeView view = graph.view(node);
  const auto shape = known_ints(view, 1);
  if (!shape || std::ranges::find(*shape, -1) == shape->end() || view.attributes->integer("allowzero", 0) != 0) return {};
  const Type &from = view.type(0), &to = view.outputs[0];
  if (!from.has_rank() || !to.is_static() || !copies_zero(from, *shape)) return {};
  ir::Ints sizes;
  for (size_t k = 0; k < shape->size(); ++k) sizes.push_back((*shape)[k] == 0 ? 0 : to.dim(static_cast<int>(k)).value());
  put_operand(graph, node, 1, graph.add_constant(ir::constant_of(Tensor::of_i64({static_cast<int64_t>(sizes.size())}, sizes))));
  return {};
}

}  // namespace

OP(reshape) {
    .name = "Reshape",
    .since_version = 25,
    .inputs = {{"data", "shape"}},
    .outputs = {{"reshaped"}},
    .attributes = {{"allowzero: int = 0"}},
    .same_bytes = true,
    .infer = infer_reshape,
    .loop_form = form_of_reshape,
    .fold = fold_same_bytes,
    .reference = reference_of_reshape,
    .upgrade = upgrade,
    .lowest_opset = lowest_opset_of_reshape,
    .downgrade = downgrade,
    .make_explicit = make_shape_explicit,
    .samples = {{"f32[2,3,4], i64[2] = [6, 4]", "f32[2,3,4], i64[3] = [0, -1, 2]", "f32[2,3,4], i64[1] = [-1]",
                 "f16[4,6], i64[3] = [2, 2, 6]", "f64[0,3], i64[2] = [3, 0]; allowzero=1", "i64[], i64[1] = [1]", "u8[1], i64[0] = []",
                 "f32[1,4,6], i64[4] = [1, 4, 2, 3]", "f32[0,3], i64[2] = [0, -1]"}},
};

}  // namespace tenon::ops::op_reshape
