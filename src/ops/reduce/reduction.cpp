// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/scalar.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops {

Result<std::optional<std::vector<int>>> reduced_axes(const NodeView& view) {
  using Axes = std::optional<std::vector<int>>;
  if (!view.type(0).has_rank()) return Axes();
  const bool noop = view.attributes->integer("noop_with_empty_axes", 0) != 0;
  std::optional<Ints> given;
  if (!view.has(1) || known_length(view, 1) == 0) given = Ints();
  else given = known_ints(view, 1);
  if (!given) return Axes();
  if (!given->empty()) return Axes(TRY(normalise_axes(view, *given, view.rank(0))));
  return Axes(noop ? std::vector<int>() : axes_from(0, view.rank(0)));
}

static DimList fresh_sizes(const NodeView& view, int64_t count) {
  DimList out;
  for (int64_t k = 0; k < count; ++k) out.push_back(view.symbols->fresh());
  return out;
}

Result<void> infer_reduce(NodeView& view, bool (*accepted)(DType), std::string_view wanted) {
  TRY(require_dtype(view, 0, accepted, wanted));
  TRY(require_dtype(view, 1, is_index, "i64"));
  Type out(dtype_of(view, 0));
  const bool keepdims = view.attributes->integer("keepdims", 1) != 0;
  if (const auto axes = TRY(reduced_axes(view))) {
    out.shape = reduced_shape(*view.type(0).shape, *axes, keepdims);
  } else if (view.type(0).has_rank() && keepdims) {
    out.shape = fresh_sizes(view, view.rank(0));
  } else if (view.type(0).has_rank() && known_length(view, 1)) {
    const int64_t left = view.rank(0) - *known_length(view, 1);
    if (left < 0) return refuse(view, Code::axis_out_of_range, "more axes than the operand has");
    out.shape = fresh_sizes(view, left);
  }
  set_output(view, 0, std::move(out));
  return {};
}

Result<void> infer_number_reduce(NodeView& view) { return infer_reduce(view, is_number, "a number type"); }

Result<void> infer_extreme_reduce(NodeView& view) { return infer_reduce(view, is_number_or_bool, "a number type or bool"); }

int lowest_opset_of_extreme(const NodeView& view) {
  return std::max(is_short_integer(dtype_of(view, 0)) ? 12 : 7, lowest_opset_of_reduce<18>(view));
}

Result<LoopForm> form_of_reduce(const NodeView& view, Combine combine, Expr (*before)(Expr), Expr (*after)(Expr, Expr)) {
  TRY(require_known_ranks(view));
  const auto axes = TRY(reduced_axes(view));
  if (!axes) return refuse(view, Code::not_supported, "not supported yet: a loop form where axes are known at run time only");
  const DimList& shape = *view.type(0).shape;
  const bool keepdims = view.attributes->integer("keepdims", 1) != 0;
  const DType dtype = view.outputs[0].dtype, wide = compute_dtype(dtype);
  RowLoop sum = reduce_rows(shape, *axes);
  Expr x = sum.load_operand(view, 0);
  if (before) x = before(x);
  if (wide == dtype && !after) {
    add_row_output(sum, dtype, shape, *axes, keepdims, x, combine);
    return single_loop_form(std::move(sum.loop));
  }
  add_output(sum, wide, without_axes(shape, *axes), x, combine);
  RowLoop last = each_row(shape, *axes);
  Expr total = last.load_of_row(0, wide);
  if (after) total = after(total, row_count(shape, *axes, wide));
  add_row_output(last, dtype, shape, *axes, keepdims, total);
  return loop_sequence_form({std::move(sum.loop), std::move(last.loop)});
}

Result<void> reference_of_reduce(Call& call, const std::function<double(std::span<const double>)>& number,
                                 const std::function<int64_t(std::span<const int64_t>)>& integer) {
  const Tensor& x = *call.in[0];
  const bool noop = call.view.attributes->integer("noop_with_empty_axes", 0) != 0,
             keepdims = call.view.attributes->integer("keepdims", 1) != 0;
  std::vector<bool> reduced(x.rank(), false);
  const Ints given = ints_of(call, 1);
  for (int64_t axis : given) {
    if (!wrap_axis(axis, x.rank())) return refuse(call.view, Code::axis_out_of_range, "an axis lies outside of the operand's rank");
    reduced[axis] = true;
  }
  if (given.empty() && !noop) reduced.assign(x.rank(), true);
  Sizes shape;
  std::vector<int> row;
  for (int k = 0; k < x.rank(); ++k) {
    if (reduced[k]) row.push_back(k);
    if (!reduced[k]) shape.push_back(x.shape()[k]);
    else if (keepdims) shape.push_back(1);
  }
  Tensor& y = *TRY(call.make(0, shape));
  const RowOffsets at = row_offsets(x.shape(), row);
  auto run = [&](auto from, const auto& function, auto store) {
    decltype(from) elements(at.inner.size());
    for (size_t b = 0; b < at.bases.size(); ++b) {
      for (size_t k = 0; k < at.inner.size(); ++k) elements[k] = from[at.bases[b] + at.inner[k]];
      store(static_cast<int64_t>(b), function(std::span(std::as_const(elements))));
    }
  };
  if (is_float(x.dtype())) run(numbers_of(x), number, [&](int64_t i, double v) { y.set_number(i, v); });
  else if (integer) run(integers_of(x), integer, [&](int64_t i, int64_t v) { y.set_integer(i, v); });
  else return refuse(call.view, Code::dtype_mismatch, "integers are not accepted");
  return {};
}

Result<void> reference_of_extreme(Call& call, bool largest) {
  const DType dtype = call.in[0]->dtype();
  const auto is_less = [dtype](int64_t a, int64_t b) { return dtype == DType::u64 ? uint64_t(a) < uint64_t(b) : a < b; };
  return reference_of_reduce(
      call,
      [&](std::span<const double> row) {
        return std::accumulate(row.begin(), row.end(), largest ? -INFINITY : double{INFINITY}, largest ? maximum : minimum);
      },
      [&](std::span<const int64_t> row) {
        int64_t best = largest ? smallest_integer(dtype) : largest_integer(dtype);
        for (int64_t v : row)
          if (largest ? is_less(best, v) : is_less(v, best)) best = v;
        return best;
      });
}

}  // namespace tenon::ops
