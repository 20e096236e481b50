// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/checked.h"
#include "ops/infer/axes.h"
#include "ops/infer/container_types.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"
#include "ops/reference/stack.h"

namespace tenon::ops::op_split_to_sequence {

namespace {

/// Whether parts are slices of size 1 without the axis (keepdims=0); with operand `split` they keep it.
bool drops_axis(const NodeView& view) { return !view.has(1) && view.attributes->integer("keepdims", 1) == 0; }

/// The size of every part along the axis; an unknown one where they differ or are not known.
Dim size_of_parts(const NodeView& view, Dim size) {
  if (!view.has(1)) return 1;
  const auto given = known_ints(view, 1);
  const bool one = view.type(1).has_rank() && view.type(1).rank() == 0;
  if (!given || given->empty()) return view.symbols->fresh();
  const int64_t first = (*given)[0];
  const bool equal = std::ranges::all_of(*given, [&](int64_t n) { return n == first; });
  const bool whole = !one || (first > 0 && size.is_number() && size.value() % first == 0);
  return equal && whole && first >= 0 ? Dim(first) : view.symbols->fresh();
}

Result<void> infer_split_to_sequence(NodeView& view) {
  TRY(require_dtype(view, 1, is_index, "i32 or i64"));
  TRY(require_rank(view, 1, 0, 1));
  Type type(dtype_of(view, 0));
  if (ranks_known(view, {0})) {
    const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0)));
    type = view.type(0);
    if (drops_axis(view)) type.shape->erase(type.shape->begin() + axis);
    else (*type.shape)[static_cast<size_t>(axis)] = size_of_parts(view, type.dim(axis));
  }
  set_output(view, 0, with_kind(std::move(type), ValueKind::sequence));
  return {};
}

/// Sizes of the parts: as listed, or equal ones of which the last may be smaller.
Result<Ints> parts_of(const Call& call, int64_t size) {
  if (!call.has(1)) return Ints(static_cast<size_t>(size), 1);
  const Ints given = ints_of(call, 1);
  if (call.in[1]->rank() == 0) {
    if (given[0] <= 0) return refuse(call.view, Code::bad_input, "the size of a part is not positive").found(std::to_string(given[0]));
    Ints out(static_cast<size_t>(ceil_div(size, given[0])), given[0]);
    if (!out.empty()) out.back() = size - given[0] * (static_cast<int64_t>(out.size()) - 1);
    return out;
  }
  int64_t left = size;
  for (int64_t n : given) {
    if (n < 0 || n > left) return refuse(call.view, Code::shape_mismatch, "the parts do not fit the axis").expected(std::to_string(size));
    left -= n;
  }
  if (left != 0) return refuse(call.view, Code::shape_mismatch, "the parts are smaller than the axis").expected(std::to_string(size));
  return given;
}

Result<Tensor> part(const Call& call, size_t axis, int64_t begin, int64_t size) {
  const Tensor& x = *call.in[0];
  Sizes shape = x.shape();
  shape[axis] = size;
  Tensor out = TRY(Tensor::make(x.dtype(), std::move(shape), call.byte_limit));
  const int64_t inner = strides_of(x.shape())[axis], from = x.shape()[axis] * inner, to = size * inner;
  for (int64_t i = 0; i < out.count(); ++i) copy_element(out, i, x, i / to * from + begin * inner + i % to);
  return out;
}

Result<void> reference_of_split_to_sequence(Call& call) {
  const Tensor& x = *call.in[0];
  const auto axis = static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("axis", 0), x.rank())));
  std::vector<Tensor> elements;
  int64_t begin = 0;
  for (int64_t size : TRY(parts_of(call, x.shape()[axis]))) {
    elements.push_back(TRY(drops_axis(call.view) ? slice_at(x, static_cast<int64_t>(axis), begin) : part(call, axis, begin, size)));
    begin += size;
  }
  call.out[0] = Tensor::of_elements(DType::sequence, std::move(elements));
  return {};
}

}  // namespace

OP(split_to_sequence) {
    .name = "SplitToSequence",
    .since_version = 24,
    .inputs = {{"input", "split?"}},
    .outputs = {{"output_sequence"}},
    .attributes = {{"axis: int = 0", "keepdims: int = 1"}},
    .infer = infer_split_to_sequence,
    .reference = reference_of_split_to_sequence,
    .first_opset = 11,
};

}  // namespace tenon::ops::op_split_to_sequence
