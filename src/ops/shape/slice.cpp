// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_slice {

namespace {

/// One sliced axis. Known where begin, end and step are; else the size is a fresh symbol.
struct Range {
  int axis = 0;
  Dim begin = 0, count = 0;
  int64_t step = 1;
  bool known = false;
};

/// max(0, min(value wrapped by size, size)): the position of a bound in an axis; step < 0 shifts by one (-1 is "before the first").
Dim bound(Dim value, Dim size, bool backward) {
  const bool negative = value.upper() < 0, positive = value.lower() >= 0;
  const Dim wrapped = negative ? value + size : positive ? value : select(less_than(value, 0), value + size, value);
  return backward ? max(min(wrapped, size - 1), -1) : max(min(wrapped, size), 0);
}

Range range_of(int axis, Dim size, Dim begin, Dim end, int64_t step) {
  Range r;
  r.axis = axis;
  r.step = step;
  r.known = true;
  const Dim from = bound(begin, size, step < 0), to = bound(end, size, step < 0);
  r.begin = from;
  r.count = max(step > 0 ? ceil_div(to - from, step) : ceil_div(from - to, -step), 0);
  return r;
}

/// Clamps a bound or step to the range of sizes: the largest integers mean "to the end", and a longer step selects no other elements.
int64_t clamped(int64_t bound) { return std::clamp(bound, -(int64_t{1} << 61), int64_t{1} << 61); }

/// The known elements of operand starts or ends.
std::optional<ShapeData> bounds_of(const NodeView& view, size_t input) {
  const Tensor* constant = view.has(input) ? view.inputs[input].constant : nullptr;
  if (!constant || constant->count() > static_cast<int64_t>(ir::kMaxShapeData)) return known_elements(view, input);
  ShapeData out;
  for (int64_t bound : integers_of(*constant)) out.push_back(Dim(clamped(bound)));
  return out;
}

Result<std::vector<Range>> ranges_of(const NodeView& view) {
  const auto begin = bounds_of(view, 1), end = bounds_of(view, 2);
  const auto steps = view.has(4) ? known_ints(view, 4) : std::nullopt;
  auto axes = view.has(3) ? known_ints(view, 3) : std::nullopt;
  const int rank = view.rank(0);
  std::vector<Range> out;
  if (view.has(3) && !axes) {
    for (int a = 0; a < rank; ++a) out.push_back({.axis = a});
    return out;
  }
  const auto length = begin ? std::optional(static_cast<int64_t>(begin->size()))
                      : end ? std::optional(static_cast<int64_t>(end->size()))
                            : known_length(view, 1);
  if (!axes) {
    axes.emplace();
    for (int64_t a = 0; a < length.value_or(rank); ++a) axes->push_back(a);
  }
  const std::vector<int> normal = TRY(normalise_axes(view, *axes, rank, false));
  for (size_t i = 0; i < normal.size(); ++i) {
    if ((begin && begin->size() != normal.size()) || (end && end->size() != normal.size()) || (steps && steps->size() != normal.size())) {
      return refuse(view, Code::shape_mismatch, "starts, ends, axes and steps differ in length");
    }
    const bool known = begin && end && (steps || !view.has(4));
    const int64_t step = steps ? clamped((*steps)[i]) : 1;
    if (step == 0) return refuse(view, Code::bad_attribute, "a step is 0");
    Range unknown;
    unknown.axis = normal[i];
    out.push_back(known ? range_of(normal[i], view.type(0).dim(normal[i]), (*begin)[i], (*end)[i], step) : unknown);
  }
  return out;
}

Result<void> infer_slice(NodeView& view) {
  Type type(dtype_of(view, 0));
  set_output(view, 0, type);
  for (size_t input = 1; input < view.inputs.size(); ++input) TRY(require_dtype(view, input, is_index, "i32 or i64"));
  if (!ranks_known(view, {0})) return {};
  const std::vector<Range> ranges = TRY(ranges_of(view));
  type.shape = view.type(0).shape;
  for (const Range& r : ranges) (*type.shape)[static_cast<size_t>(r.axis)] = r.known ? r.count : view.symbols->fresh();
  set_output(view, 0, type);
  for (const Range& r : ranges) {
    if (!r.known || !r.begin.is_number() || !r.count.is_number()) return {};
  }
  pick_data(view, [&](std::vector<int64_t> at) {
    for (const Range& r : ranges) {
      int64_t& i = at[static_cast<size_t>(r.axis)];
      i = r.begin.value() + i * r.step;
    }
    return at;
  });
  return {};
}

Result<LoopForm> form_of_slice(const NodeView& view) {
  TRY(require_known_ranks(view));
  std::vector<Expr> index = axis_indices(view.rank(0));
  for (const Range& r : TRY(ranges_of(view))) {
    if (!r.known) return refuse(view, Code::not_supported, "not supported yet: a loop form for bounds that are not known");
    Expr& e = index[static_cast<size_t>(r.axis)];
    if (r.step != 1) e = e * index_constant(r.step);
    if (!(r.begin == Dim(0))) e = e + size_expr(r.begin);
  }
  return index_form(view, 0, std::move(index));
}

Result<void> reference_of_slice(Call& call) {
  const Tensor& x = *call.in[0];
  const Ints begin = ints_of(call, 1), end = ints_of(call, 2);
  Ints axes = ints_of(call, 3), steps = ints_of(call, 4);
  if (!call.has(3))
    for (size_t i = 0; i < begin.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (!call.has(4)) steps.assign(begin.size(), 1);
  if (begin.size() != end.size() || axes.size() != begin.size() || steps.size() != begin.size()) {
    return refuse(call.view, Code::shape_mismatch, "starts, ends, axes and steps differ in length");
  }
  const Sizes strides = strides_of(x.shape());
  Sizes shape = x.shape(), from(shape.size(), 0), by(shape.size(), 1);
  for (size_t i = 0; i < begin.size(); ++i) {
    const size_t a = static_cast<size_t>(TRY(normalise_axis(call.view, axes[i], x.rank())));
    const int64_t size = x.shape()[a], step = clamped(steps[i]);
    if (step == 0) return refuse(call.view, Code::bad_attribute, "a step is 0");
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const int64_t b = std::clamp(begin[i] < 0 ? begin[i] + size : begin[i], low, std::max(low, high));
    const int64_t e = std::clamp(end[i] < 0 ? std::max(end[i], INT64_MIN + size) + size : end[i], low, std::max(low, high));
    from[a] = b;
    by[a] = step;
    shape[a] = std::max<int64_t>(0, step > 0 ? ceil_div(e - b, step) : ceil_div(b - e, -step));
  }
  return gather_elements(call, x, shape, [&](const Sizes& at) {
    int64_t position = 0;
    for (size_t d = 0; d < at.size(); ++d) position += (from[d] + at[d] * by[d]) * strides[d];
    return position;
  });
}

/// OpDef::fold, for steps of 1.
Folded fold_slice(const NodeView& view, std::span<const ir::ConstantRef> in) {
  const auto starts = known_ints(view, 1), ends = known_ints(view, 2);
  if (!starts || !ends || starts->size() != ends->size()) return std::nullopt;
  const auto axes = known_ints(view, 3), steps = known_ints(view, 4);
  ir::ConstantRef out = in[0];
  for (size_t i = 0; i < starts->size(); ++i) {
    const auto axis = normalise_axis(view, axes ? (*axes)[i] : static_cast<int64_t>(i), view.rank(0));
    if (!axis || (steps && (*steps)[i] != 1)) return std::nullopt;
    const int64_t size = out->shape[static_cast<size_t>(*axis)];
    const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
    const int64_t begin = clamp((*starts)[i]);
    out = ir::slice(out, *axis, begin, std::max(begin, clamp((*ends)[i])));
  }
  return std::vector{std::move(out)};
}

Result<void> upgrade_slice(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 10) return {};
  TRY(attribute_to_operand(graph, node, "starts", 1));
  TRY(attribute_to_operand(graph, node, "ends", 2));
  return attribute_to_operand(graph, node, "axes", 3);
}

}  // namespace

OP(slice) {
    .name = "Slice",
    .since_version = 13,
    .inputs = {{"data", "starts", "ends", "axes?", "steps?"}},
    .infer = infer_slice,
    .loop_form = form_of_slice,
    .fold = fold_slice,
    .reference = reference_of_slice,
    .upgrade = upgrade_slice,
    .lowest_opset = [](const NodeView&) { return 10; },
    .samples = {{"f32[4,5], i64[2] = [1, 0], i64[2] = [3, 9223372036854775807]", "f32[4,5], i64[1] = [-2], i64[1] = [-1], i64[1] = [1]",
                 "f16[7], i64[1] = [5], i64[1] = [0], i64[1] = [0], i64[1] = [-2]",
                 "f32[4,5], i64[1] = [-1], i64[1] = [-9223372036854775808], i64[1] = [-1], i64[1] = [-1]",
                 "i64[3,0], i64[1] = [1], i64[1] = [3], i64[1] = [0]", "bool[6], i32[1] = [1], i32[1] = [6], i32[1] = [0], i32[1] = [2]",
                 "f64[4], i64[1] = [3], i64[1] = [1]", "u8[5,2], i64[2] = [1, 1], i64[2] = [1000, 2], i64[2] = [-2, -1], i64[2] = [3, 1]"}},
};

}  // namespace tenon::ops::op_slice
