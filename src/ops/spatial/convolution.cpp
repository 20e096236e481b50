// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/convolution.h"

#include <algorithm>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops {

DimList spatial_of(const Type& type) { return DimList(type.shape->begin() + std::min<size_t>(2, type.shape->size()), type.shape->end()); }

Result<Ints> kernel_of(const NodeView& view, size_t weights) {
  if (view.type(weights).has_rank()) {
    if (auto sizes = static_sizes(spatial_of(view.type(weights)))) return *sizes;
  }
  if (view.attributes->has("kernel_shape")) return view.attributes->ints("kernel_shape");
  return refuse(view, Code::not_supported, "not supported yet: weights of unknown kernel size").advice("give the attribute kernel_shape");
}

Result<void> infer_conv(NodeView& view, size_t x, size_t w, size_t bias, DType dtype) {
  Type out(dtype);
  TRY(require_rank(view, x, 2, -1));
  TRY(require_rank(view, w, 2, -1));
  if (ranks_known(view, {x, w})) {
    const Type &data = view.type(x), &weights = view.type(w);
    if (data.rank() != weights.rank()) {
      return refuse(view, Code::rank_mismatch, "data and weights differ in rank").expected(data.text()).found(weights.text());
    }
    const int64_t group = view.attributes->integer("group", 1);
    if (group < 1) return refuse(view, Code::bad_attribute, "group must be at least 1").found(std::to_string(group));
    TRY(require_equal(view, data.dim(1), weights.dim(1) * group, "channels of X and of W times group"));
    TRY(require_equal(view, floor_div(weights.dim(0), group) * group, weights.dim(0), "output channels and a multiple of group"));
    if (view.has(bias)) {
      TRY(require_rank(view, bias, 1));
      if (view.type(bias).has_rank())
        TRY(require_equal(view, view.type(bias).dim(0), weights.dim(0), "size of the bias and output channels"));
    }
    const DimList sizes = spatial_of(data);
    const Windows windows = TRY(windows_of(view, sizes, TRY(kernel_of(view, w))));
    out.shape = DimList{data.dim(0), weights.dim(0)};
    for (const Dim& d : TRY(window_outputs(view, windows, sizes))) out.shape->push_back(d);
  }
  set_output(view, 0, std::move(out));
  return {};
}

Result<void> infer_pool(NodeView& view) {
  Type out(dtype_of(view, 0));
  TRY(require_rank(view, 0, 3, -1));
  if (view.type(0).has_rank()) {
    const DimList sizes = spatial_of(view.type(0));
    const Windows windows = TRY(windows_of(view, sizes));
    out.shape = DimList{view.type(0).dim(0), view.type(0).dim(1)};
    for (const Dim& d : TRY(window_outputs(view, windows, sizes))) out.shape->push_back(d);
  }
  set_output(view, 0, out);
  out.dtype = DType::i64;
  set_output(view, 1, std::move(out));
  return {};
}

WindowIndex window_index(const Windows& windows, const DimList& sizes, int first_out, int first_kernel) {
  WindowIndex r;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int k = static_cast<int>(i);
    const Expr at = Expr::axis(first_out + k) * index_constant(windows.strides[i]) +
                    Expr::axis(first_kernel + k) * index_constant(windows.dilations[i]) - size_expr(windows.pads_begin[i]);
    r.index.push_back(simplify(at));
    Expr inside;
    const auto none = [](Dim pad) { return pad.known_equal(0); };
    if (!none(windows.pads_begin[i])) inside = index_constant(0) <= at;
    if (!none(windows.pads_end[i]) || windows.ceil_mode)
      inside = inside ? logical_and(inside, at < size_expr(sizes[i])) : at < size_expr(sizes[i]);
    if (inside) r.within = r.within ? logical_and(r.within, inside) : inside;
  }
  return r;
}

namespace {

/// The number of positions of a window along spatial axis i that lie in [low, high). cut_before, cut_after: whether a window
/// may reach over that end.
Expr count_along(const Windows& windows, size_t i, Expr start, Dim low, Dim high, bool cut_before, bool cut_after) {
  const Expr kernel = index_constant(windows.kernel[i]), none = index_constant(0);
  if (!cut_before && !cut_after) return kernel;
  const Expr step = index_constant(windows.dilations[i]), more = index_constant(windows.dilations[i] - 1);
  const auto steps_to = [&](Expr distance) { return windows.dilations[i] == 1 ? distance : (max(distance, none) + more) / step; };
  Expr count = kernel;
  if (cut_after) count = min(count, steps_to(size_expr(high) - start));
  if (cut_before) count = count - max(steps_to(size_expr(low) - start), none);
  return max(count, none);
}

}  // namespace

Expr window_count(const Windows& windows, const DimList& sizes, int first_out, bool padded) {
  Expr count = index_constant(1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Expr start = Expr::axis(first_out + static_cast<int>(i)) * index_constant(windows.strides[i]) - size_expr(windows.pads_begin[i]);
    const Dim low = padded ? Dim(0) - windows.pads_begin[i] : Dim(0);
    const Dim high = padded ? sizes[i] + windows.pads_end[i] : sizes[i];
    const bool cut_before = !padded && !windows.pads_begin[i].known_equal(0);
    const bool cut_after = windows.ceil_mode || (!padded && !windows.pads_end[i].known_equal(0));
    count = count * count_along(windows, i, start, low, high, cut_before, cut_after);
  }
  return simplify(count);
}

KernelRange used_kernel_range(const Windows& windows, size_t i, Dim size, Dim outputs) {
  constexpr int64_t kShort = 7;
  const int64_t kernel = windows.kernel[i], dilation = windows.dilations[i];
  // Position k of output o is element o * stride + k * dilation - pad.
  const Dim pad = windows.pads_begin[i], first_at_last_output = pad - (outputs - 1) * windows.strides[i];
  const Dim first = min(max(ceil_div(first_at_last_output, dilation), 0), kernel);
  const Dim count = max(min(floor_div(size - 1 + pad, dilation) + 1, kernel) - first, 0);
  const bool known = first.is_number() && count.is_number();
  return known || kernel > kShort ? KernelRange{first, count} : KernelRange{0, kernel};
}

WindowLoop window_loop(const NodeView& view, const Windows& windows, Expr fill) {
  const DimList &shape = *view.outputs[0].shape, sizes = spatial_of(view.type(0));
  const int spatial = static_cast<int>(shape.size()) - 2;
  WindowLoop r;
  r.loop.axes = parallel_axes(shape);
  Windows cut = windows;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const KernelRange used = used_kernel_range(windows, i, sizes[i], shape[2 + i]);
    cut.pads_begin[i] = windows.pads_begin[i] - used.first * windows.dilations[i];
    r.loop.axes.push_back({Axis::Kind::reduced, used.count});
  }
  r.at = window_index(cut, sizes, 2, 2 + spatial);
  std::vector<Expr> index = axis_indices(2);
  index.insert(index.end(), r.at.index.begin(), r.at.index.end());
  Access access = operand_access(view, 0, std::move(index));
  access.within = r.at.within;
  if (r.at.within) access.fill = std::move(fill);
  r.x = to_compute_dtype(load(r.loop, std::move(access)));
  return r;
}

Result<ConvLoop> conv_loop(const NodeView& view, size_t x, size_t w) {
  const Type &data = view.type(x), &weights = view.type(w);
  const int64_t group = view.attributes->integer("group", 1);
  const DimList sizes = spatial_of(data);
  const Windows windows = TRY(windows_of(view, sizes, TRY(kernel_of(view, w))));
  const DimList& shape = *view.outputs[0].shape;
  const int spatial = static_cast<int>(sizes.size());
  ConvLoop r;
  r.loop.axes.push_back({Axis::Kind::parallel, shape[0]});
  if (group > 1) r.loop.axes.push_back({Axis::Kind::parallel, group});
  const int m = static_cast<int>(r.loop.axes.size());
  r.loop.axes.push_back({Axis::Kind::parallel, floor_div(weights.dim(0), group)});
  for (int i = 0; i < spatial; ++i) r.loop.axes.push_back({Axis::Kind::parallel, shape[2 + i]});
  const int c = static_cast<int>(r.loop.axes.size());
  r.loop.axes.push_back({Axis::Kind::reduced, weights.dim(1)});
  for (int64_t k : windows.kernel) r.loop.axes.push_back({Axis::Kind::reduced, k});
  auto grouped = [&](Dim per_group, int axis) {
    if (group == 1) return Expr::axis(axis);
    return simplify(Expr::axis(1) * size_expr(per_group) + Expr::axis(axis));
  };
  r.output_channel = grouped(floor_div(weights.dim(0), group), m);
  WindowIndex at = window_index(windows, sizes, m + 1, c + 1);
  std::vector<Expr> from{Expr::axis(0), grouped(weights.dim(1), c)};
  from.insert(from.end(), at.index.begin(), at.index.end());
  Access access = operand_access(view, x, std::move(from));
  access.within = at.within;
  if (at.within) access.fill = Expr::constant(access.dtype, 0);
  if (at.within && is_integer(access.dtype)) access.fill = Expr::integer(access.dtype, 0);
  r.x = load(r.loop, std::move(access));
  std::vector<Expr> of_w{r.output_channel, Expr::axis(c)};
  for (int i = 0; i < spatial; ++i) of_w.push_back(Expr::axis(c + 1 + i));
  r.w = load(r.loop, operand_access(view, w, std::move(of_w)));
  r.index = {Expr::axis(0), r.output_channel};
  for (int i = 0; i < spatial; ++i) r.index.push_back(Expr::axis(m + 1 + i));
  return r;
}

}  // namespace tenon::ops
