// SPDX-License-Identifier: Apache-2.0
#include "codegen/winograd/convolution.h"

#include <algorithm>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

using C = Convolution;

/// Whether the index consists of these axes.
bool is_plain(const std::vector<Expr>& index, std::initializer_list<int> axes) {
  return std::ranges::equal(index, axes, [](const Expr& e, int x) { return e.op() == ExprOp::axis && e->index == x; });
}

/// Whether the nest has the axes of an ungrouped convolution with a 3x3 kernel.
bool has_axes(const Nest& nest) {
  if (nest.axes.size() != C::axes) return false;
  for (int x = 0; x < C::axes; ++x)
    if ((nest.axes[x].kind == ops::Axis::Kind::parallel) != (x < C::input)) return false;
  return nest.axes[C::kernel_row].extent == Dim(3) && nest.axes[C::kernel_column].extent == Dim(3);
}

/// The offset of an index that is output + kernel + offset; nullopt for any other.
std::optional<Dim> window(const Expr& index, int output, int kernel) {
  const auto affine = affine_of(index, C::axes);
  if (!affine) return std::nullopt;
  for (int x = 0; x < C::axes; ++x)
    if (!(affine->coefficients[x] == Dim(x == output || x == kernel ? 1 : 0))) return std::nullopt;
  return affine->offset;
}

/// Sets the dimensions that windows slide along. False: there are not two, or an index in another dimension may be outside or moves with a
/// window.
bool find_windows(C& c, const NestAccess& data, const Nest& nest, const Plan& plan) {
  const auto inside = index_bounds_of(data, nest, plan);
  if (!inside) return false;
  for (int d = 0; d < static_cast<int>(data.index.size()); ++d) {
    const Expr& e = data.index[d];
    if (const auto offset = window(e, C::row, C::kernel_row)) {
      c.data_rows = d, c.first_row = *offset, c.rows = (*inside)[d];
    } else if (const auto along = window(e, C::column, C::kernel_column)) {
      c.data_columns = d, c.first_column = *along, c.columns = (*inside)[d];
    } else {
      for (const int x : {C::output, C::row, C::column, C::kernel_row, C::kernel_column})
        if (mentions(e, ExprOp::axis, x)) return false;
      if (!(*inside)[d].always) return false;
    }
  }
  return c.data_rows >= 0 && c.data_columns >= 0;
}

/// The size with `value`, or the nearest number in its range, for each symbol.
int64_t assumed_size(Dim size, int64_t value) {
  const Dim n = substitute(size, [&](const DimNode& s) { return Dim(std::clamp(value, s.lower, s.upper)); });
  return n.number().value_or(value);
}

}  // namespace

std::optional<Convolution> convolution_of(const Group& group, const Plan& plan) {
  if (group.kind() != GroupKind::contract || !has_axes(group.nests[0])) return std::nullopt;
  const Nest& nest = group.nests[0];
  const auto factors = factors_of(nest);
  if (!is_sum_of_products(nest) || nest.outputs[0].flat) return std::nullopt;
  if (!is_plain(nest.outputs[0].index, {C::batch, C::output, C::row, C::column})) return std::nullopt;
  C c;
  for (const ContractOperand& f : *factors) {
    const NestAccess& a = nest.accesses[f.accesses[0]];
    const bool kernels =
        plan.arrays[a.array].constant && !a.within && is_plain(a.index, {C::output, C::input, C::kernel_row, C::kernel_column});
    (kernels ? c.kernels : c.data) = f.accesses[0];
  }
  if (c.kernels < 0 || c.data < 0) return std::nullopt;
  const NestAccess& data = nest.accesses[c.data];
  const bool zeros = !data.within || is_zero(data.fill);
  if (data.flat || !zeros || !find_windows(c, data, nest, plan)) return std::nullopt;
  const Sizes& kernels = plan.arrays[nest.accesses[c.kernels].array].constant->shape;
  c.outputs = kernels[0];
  c.inputs = kernels[1];
  if (c.inputs == 1 || c.outputs == 1) return std::nullopt;  // no product of matrices
  c.images = nest.axes[C::batch].extent;
  c.result_rows = nest.axes[C::row].extent;
  c.result_columns = nest.axes[C::column].extent;
  return c;
}

int tile_outputs(const Convolution& c, const PlanLimits& limits) {
  const auto of = [&](Dim size) { return static_cast<double>(assumed_size(size, limits.default_image_size)); };
  const double images = static_cast<double>(assumed_size(c.images, 1)),
               channels = static_cast<double>(c.inputs) * static_cast<double>(c.outputs);
  const double weights = channels * sizeof(float) * limits.ops_per_weight_byte;
  double best_work = images * of(c.result_rows) * of(c.result_columns) * channels * 2 * 9 + 9 * weights;
  int best = 0;
  for (const int outputs : {2, 4}) {
    const double tiles = images * std::ceil(of(c.result_rows) / outputs) * std::ceil(of(c.result_columns) / outputs);
    const double elements = (outputs + 2) * (outputs + 2) * tiles;
    const auto cost_of_copies = [&](int64_t of_channels) {
      const double bytes = static_cast<double>(of_channels) * sizeof(float);
      const bool stays_in_cache = elements * bytes <= static_cast<double>(limits.winograd_cache_bytes);
      return 2 * bytes * (stays_in_cache ? limits.ops_per_cached_byte : limits.ops_per_memory_byte);
    };
    const double work =
        elements * (channels * 2 + cost_of_copies(c.inputs) + cost_of_copies(c.outputs)) + (outputs + 2) * (outputs + 2) * weights;
    if (work < best_work) best = outputs, best_work = work;
  }
  return best;
}

}  // namespace tenon::codegen
