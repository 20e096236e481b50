// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/pool_loops.h"

#include "ops/form/loops.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops {

namespace {

/// Whether every window contains all positions of the axis.
bool windows_cover_axis(const Windows& windows, size_t i, Dim size, Dim outputs) {
  const Dim last_start = (outputs - 1) * windows.strides[i] - windows.pads_begin[i];
  const Dim first_end = Dim(windows.kernel[i]) - windows.pads_begin[i];
  return windows.dilations[i] == 1 && size.is_number() && last_start.less(1).value_or(false) && (size - 1).less(first_end).value_or(false);
}

/// The windows along spatial axis i alone.
Windows windows_along(const Windows& windows, size_t i) {
  return {{windows.kernel[i]},     {windows.strides[i]},  {windows.dilations[i]},
          {windows.pads_begin[i]}, {windows.pads_end[i]}, windows.ceil_mode};
}

class PoolLoops {
 public:
  PoolLoops(const NodeView& view, const Windows& windows, const Pooling& pooling)
      : view_(view), windows_(windows), pooling_(pooling), shape_(*view.type(0).shape) {
    const DimList sizes = spatial_of(view.type(0)), outputs = spatial_of(view.outputs[0]);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const bool covered = windows_cover_axis(windows, i, sizes[i], outputs[i]);
      const KernelRange kernel = covered ? KernelRange{0, sizes[i]} : used_kernel_range(windows, i, sizes[i], outputs[i]);
      axes_.push_back({covered, sizes[i], covered ? Dim(1) : outputs[i], kernel});
    }
  }

  std::vector<Loop> run() && {
    if (is_separable_cheaper())
      for (size_t i = 0; i < axes_.size(); ++i) reduce(i, i + 1);
    else reduce(0, axes_.size());
    const DimList& result = *view_.outputs[0].shape;
    for (size_t d = 0; d < result.size(); ++d)
      if (!(shape_[d] == result[d])) return std::move(*this).broadcast(result);
    return std::move(loops_);
  }

 private:
  struct SpatialAxis {
    bool covered;       ///< by every window
    Dim size, outputs;  ///< outputs: 1 where the axis is covered
    KernelRange kernel;
  };

  /// Whether reducing one axis after the other takes less than half of the operations, so that storing intermediate results pays off.
  bool is_separable_cheaper() const {
    constexpr int64_t kAssumedSize = 64;  // of symbolic dimensions
    const auto estimate = [](Dim d, int64_t assumed) { return static_cast<double>(d.number().value_or(assumed)); };
    double window_size = 1, separable_cost = 0, outputs = 1, unreduced = 1;
    for (const SpatialAxis& a : axes_) unreduced *= estimate(a.size, kAssumedSize);
    for (size_t i = 0; i < axes_.size(); ++i) {
      const SpatialAxis& a = axes_[i];
      const double kernel = estimate(a.kernel.count, windows_.kernel[i]);
      outputs *= estimate(a.outputs, std::max<int64_t>(1, kAssumedSize / windows_.strides[i]));
      unreduced /= std::max(1.0, estimate(a.size, kAssumedSize));
      window_size *= kernel;
      separable_cost += outputs * unreduced * kernel;
    }
    return axes_.size() > 1 && 2 * separable_cost <= window_size * outputs;
  }

  /// Adds a loop that reduces the spatial axes [from, to).
  void reduce(size_t from, size_t to) {
    const int rank = static_cast<int>(shape_.size());
    DimList shape = shape_;
    for (size_t i = from; i < to; ++i) shape[2 + i] = axes_[i].outputs;
    Loop loop;
    loop.axes = parallel_axes(shape);
    std::vector<Expr> index = axis_indices(rank);
    Expr within;
    for (size_t i = from; i < to; ++i) {
      const int kernel_axis = static_cast<int>(loop.axes.size());
      loop.axes.push_back({Axis::Kind::reduced, axes_[i].kernel.count});
      index[2 + i] = Expr::axis(kernel_axis);
      if (axes_[i].covered) continue;
      Windows window = windows_along(windows_, i);
      window.pads_begin[0] = window.pads_begin[0] - axes_[i].kernel.first * windows_.dilations[i];
      WindowIndex position = window_index(window, {axes_[i].size}, static_cast<int>(2 + i), kernel_axis);
      index[2 + i] = position.index[0];
      if (position.within) within = within ? logical_and(within, position.within) : position.within;
    }
    const bool first = loops_.empty();
    Access access = first ? operand_access(view_, 0, std::move(index)) : last_output_access(std::move(index));
    access.within = within;
    if (within) access.fill = first || pooling_.combine != Combine::sum ? pooling_.fill : Expr::constant(pooling_.dtype, 0);
    Expr x = to_compute_dtype(load(loop, std::move(access)));
    if (first && pooling_.transform) x = pooling_.transform(x);
    append(std::move(loop), std::move(shape), std::move(x), pooling_.combine);
  }

  /// Adds a loop that broadcasts the reduced value of covered axes to each output.
  std::vector<Loop> broadcast(const DimList& result) && {
    Loop loop;
    loop.axes = parallel_axes(result);
    std::vector<Expr> index = axis_indices(static_cast<int>(result.size()));
    for (size_t i = 0; i < axes_.size(); ++i)
      if (axes_[i].covered) index[2 + i] = index_constant(0);
    Expr x = load(loop, last_output_access(std::move(index)));
    append(std::move(loop), result, std::move(x), Combine::none);
    return std::move(loops_);
  }

  Access last_output_access(std::vector<Expr> index) const {
    return loop_output_access(static_cast<int>(loops_.size()) - 1, 0, pooling_.dtype, std::move(index));
  }

  void append(Loop loop, DimList shape, Expr value, Combine combine) {
    loop.outputs.push_back(full_output(pooling_.dtype, shape, std::move(value)));
    loop.outputs.back().combine = combine;
    loops_.push_back(std::move(loop));
    shape_ = std::move(shape);
  }

  const NodeView& view_;
  const Windows& windows_;
  const Pooling& pooling_;
  std::vector<SpatialAxis> axes_;
  DimList shape_;  ///< of the last loop's output
  std::vector<Loop> loops_;
};

}  // namespace

std::vector<Loop> pool_loops(const NodeView& view, const Windows& windows, const Pooling& pooling) {
  return PoolLoops(view, windows, pooling).run();
}

}  // namespace tenon::ops
