// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/window_sum.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {

namespace {

bool is_parallel(const ops::Axis& axis) { return axis.kind == ops::Axis::Kind::parallel; }

/// The slide of one dimension; nullopt where axes move it in another way. One of a single step has no reduced axis: `kernel` is -1.
std::optional<Slide> slide_of(const Expr& index, const Nest& nest, const IndexBounds& inside) {
  const auto affine = affine_of(index, static_cast<int>(nest.axes.size()));
  if (!affine) return std::nullopt;
  Slide out;
  out.offset = affine->offset;
  out.inside = inside;
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x) {
    const Dim step = affine->coefficients[x];
    if (step == Dim(0) || nest.axes[x].extent == Dim(1)) continue;
    int& axis = is_parallel(nest.axes[x]) ? out.output : out.kernel;
    if (axis >= 0 || !step.is_number() || step.value() <= 0) return std::nullopt;
    axis = x;
    (is_parallel(nest.axes[x]) ? out.step : out.dilation) = step.value();
  }
  return out;
}

/// Sets the slides of the data: one or two. False: there are none, or an index in another dimension may be outside.
bool find_slides(WindowSum& sum, const Nest& nest, const Plan& plan) {
  const NestAccess& data = nest.accesses[sum.data];
  const auto inside = index_bounds_of(data, nest, plan);
  if (!inside) return false;
  std::vector<Slide> slides;
  for (size_t d = 0; d < data.index.size(); ++d) {
    const auto slide = slide_of(data.index[d], nest, (*inside)[d]);
    if (slide && slide->kernel >= 0 && slide->output >= 0) slides.push_back(*slide);
    else if (!(*inside)[d].always || (slide && slide->kernel >= 0)) return false;
  }
  size_t reduced = 0;
  for (const ops::Axis& a : nest.axes) reduced += !is_parallel(a) && !(a.extent == Dim(1));
  if (slides.empty() || slides.size() > 2 || reduced != slides.size()) return false;
  sum.columns = slides.back();
  if (slides.size() == 2) sum.rows = slides[0];
  return nest.axes[sum.columns.kernel].extent.is_number();
}

/// The axis along which data and result are contiguous; -1: there is none.
int channels_of(const WindowSum& sum, const Nest& nest, const Plan& plan) {
  const int axes = static_cast<int>(nest.axes.size());
  const auto data = affine_of(flat_of(nest.accesses[sum.data], plan), axes), result = affine_of(flat_of(nest.outputs[0], plan), axes);
  if (!data || !result) return -1;
  for (int x = 0; x < axes; ++x) {
    const bool other = x != sum.columns.output && !(sum.rows && x == sum.rows->output);
    if (is_parallel(nest.axes[x]) && other && data->coefficients[x] == Dim(1) && result->coefficients[x] == Dim(1) &&
        !(nest.axes[x].extent == Dim(1)))
      return x;
  }
  return -1;
}

}  // namespace

std::optional<WindowSum> window_sum_of(const Nest& nest, const Plan& plan) {
  if (!is_sum_of_products(nest) || nest.outputs[0].flat) return std::nullopt;
  for (const int data : {0, 1}) {
    WindowSum sum;
    sum.data = data;
    sum.weights = 1 - data;
    const NestAccess &x = nest.accesses[sum.data], &w = nest.accesses[sum.weights];
    const bool zeros = !x.within || is_zero(x.fill);
    if (x.flat || !zeros || w.within || !plan.arrays[w.array].constant || plan.arrays[x.array].constant) continue;
    if (!find_slides(sum, nest, plan)) continue;
    sum.channels = channels_of(sum, nest, plan);
    if (sum.channels >= 0) return sum;
  }
  return std::nullopt;
}

}  // namespace tenon::codegen
