// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/pool_loops.h"

#include "ops/form/loops.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops {

namespace {

/// Whether every window contains all positions of the axis.
bool holds_all(const Windows& windows, size_t i, Dim size, Dim outputs) {
  const Dim last_start = (outputs - 1) * windows.strides[i] - windows.begin[i];
  const Dim first_end = Dim(windows.kernel[i]) - windows.begin[i];
  return windows.dilations[i] == 1 && size.is_number() && last_start.less(1).value_or(false) && (size - 1).less(first_end).value_or(false);
}

Windows along(const Windows& windows, size_t i) {
  return {{windows.kernel[i]}, {windows.strides[i]}, {windows.dilations[i]}, {windows.begin[i]}, {windows.end[i]}, windows.ceil_mode};
}

class PoolLoops {
 public:
  PoolLoops(const NodeView& view, const Windows& windows, const Pooling& pooling)
      : view_(view), windows_(windows), pooling_(pooling), shape_(*view.type(0).shape) {
    const DimList sizes = spatial_of(view.type(0)), results = spatial_of(view.outputs[0]);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const bool all = holds_all(windows, i, sizes[i], results[i]);
      const WindowReach reach = all ? WindowReach{0, sizes[i]} : reach_of(windows, i, sizes[i], results[i]);
      axes_.push_back({all, sizes[i], all ? Dim(1) : results[i], reach});
    }
  }

  std::vector<Loop> run() && {
    if (passes_pay())
      for (size_t i = 0; i < axes_.size(); ++i) reduce(i, i + 1);
    else reduce(0, axes_.size());
    const DimList& result = *view_.outputs[0].shape;
    for (size_t d = 0; d < result.size(); ++d)
      if (!(shape_[d] == result[d])) return std::move(*this).spread(result);
    return std::move(loops_);
  }

 private:
  struct SpatialAxis {
    bool holds_all;
    Dim size, results;  ///< results: 1 where all windows hold the same
    WindowReach reach;
  };

  /// Whether reducing one axis after the other takes less than half of the operations, so that storing intermediate results pays off.
  bool passes_pay() const {
    constexpr int64_t kUsual = 64;
    const auto number = [](Dim d, int64_t usual) { return static_cast<double>(d.number().value_or(usual)); };
    double whole = 1, passes = 0, results = 1, remaining = 1;
    for (const SpatialAxis& a : axes_) remaining *= number(a.size, kUsual);
    for (size_t i = 0; i < axes_.size(); ++i) {
      const SpatialAxis& a = axes_[i];
      const double steps = number(a.reach.count, windows_.kernel[i]);
      results *= number(a.results, std::max<int64_t>(1, kUsual / windows_.strides[i]));
      remaining /= std::max(1.0, number(a.size, kUsual));
      whole *= steps;
      passes += results * remaining * steps;
    }
    return axes_.size() > 1 && 2 * passes <= whole * results;
  }

  /// Adds a loop that reduces the spatial axes [from, to).
  void reduce(size_t from, size_t to) {
    const int rank = static_cast<int>(shape_.size());
    DimList made = shape_;
    for (size_t i = from; i < to; ++i) made[2 + i] = axes_[i].results;
    Loop loop;
    loop.axes = parallel_axes(made);
    std::vector<Expr> index = axis_indices(rank);
    Expr within;
    for (size_t i = from; i < to; ++i) {
      const int kernel = static_cast<int>(loop.axes.size());
      loop.axes.push_back({Axis::Kind::reduced, axes_[i].reach.count});
      index[2 + i] = Expr::axis(kernel);
      if (axes_[i].holds_all) continue;
      Windows cut = along(windows_, i);
      cut.begin[0] = cut.begin[0] - axes_[i].reach.first * windows_.dilations[i];
      WindowIndex at = window_index(cut, {axes_[i].size}, static_cast<int>(2 + i), kernel);
      index[2 + i] = at.index[0];
      if (at.within) within = within ? logical_and(within, at.within) : at.within;
    }
    const bool first = loops_.empty();
    Access access = first ? operand_access(view_, 0, std::move(index)) : read_loop(std::move(index));
    access.within = within;
    if (within) access.fill = first || pooling_.combine != Combine::sum ? pooling_.fill : Expr::constant(pooling_.dtype, 0);
    Expr x = to_compute_dtype(load(loop, std::move(access)));
    if (first && pooling_.before) x = pooling_.before(x);
    add(std::move(loop), std::move(made), std::move(x), pooling_.combine);
  }

  /// Adds a loop that broadcasts the reduction that all windows share to each result.
  std::vector<Loop> spread(const DimList& result) && {
    Loop loop;
    loop.axes = parallel_axes(result);
    std::vector<Expr> index = axis_indices(static_cast<int>(result.size()));
    for (size_t i = 0; i < axes_.size(); ++i)
      if (axes_[i].holds_all) index[2 + i] = index_constant(0);
    Expr x = load(loop, read_loop(std::move(index)));
    add(std::move(loop), result, std::move(x), Combine::none);
    return std::move(loops_);
  }

  Access read_loop(std::vector<Expr> index) const {
    return loop_output_access(static_cast<int>(loops_.size()) - 1, 0, pooling_.dtype, std::move(index));
  }

  void add(Loop loop, DimList made, Expr value, Combine combine) {
    loop.outputs.push_back(full_output(pooling_.dtype, made, std::move(value)));
    loop.outputs.back().combine = combine;
    loops_.push_back(std::move(loop));
    shape_ = std::move(made);
  }

  const NodeView& view_;
  const Windows& windows_;
  const Pooling& pooling_;
  std::vector<SpatialAxis> axes_;
  DimList shape_;  ///< of what the last loop makes
  std::vector<Loop> loops_;
};

}  // namespace

std::vector<Loop> pool_loops(const NodeView& view, const Windows& windows, const Pooling& pooling) {
  return PoolLoops(view, windows, pooling).run();
}

}  // namespace tenon::ops
