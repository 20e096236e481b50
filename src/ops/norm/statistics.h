// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/types.h"
#include "ops/reduce/reduction.h"

namespace tenon::ops {

/// The dtype of means and variances: f64 for f64, else f32.
inline DType statistics_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// Loads the element at `element_index` of a row loop.
using ElementOf = std::function<Expr(RowLoop&)>;
/// Appends loops that give, per row, the mean (output 0 of loop `mean`) and 1 / sqrt(variance + epsilon) (of loop `inv_std_dev`).
/// Rows lose the `row` axes of `shape`. epsilon is added to the variance; with `deviation_epsilon` it is added to the root instead.
struct RowStatistics {
  int mean = -1, inv_std_dev = -1;
};
RowStatistics add_statistics(std::vector<Loop>& loops, const DimList& shape, std::span<const int> row, DType wide, const ElementOf& element,
                             double epsilon, bool deviation_epsilon = false);
/// Appends the loops of 1 / sqrt(mean(x * x) + epsilon); returns the number of the last one.
int add_root_mean_square(std::vector<Loop>& loops, const DimList& shape, std::span<const int> row, DType wide, const ElementOf& element,
                         double epsilon);

/// Mean and population variance of each row, for references.
struct RowMoments {
  std::vector<double> mean, variance;
};
RowMoments moments_of(std::span<const double> x, const RowOffsets& rows);

/// In plain ops, over `axes` (kept with size 1): the mean of x, x - mean, and 1 / sqrt(variance + epsilon).
struct NormalisedRows {
  ir::ValueId mean, centred, inv_std_dev;
};
NormalisedRows define_normalised_rows(ir::Builder& build, ir::ValueId x, DType dtype, const Ints& axes, double epsilon);
/// 1 / sqrt(mean(x * x) + epsilon) over `axes` (kept with size 1), in plain ops.
ir::ValueId define_root_mean_square(ir::Builder& build, ir::ValueId x, DType dtype, const Ints& axes, double epsilon);
/// The normalised axes: from attribute `axis` (default: the last) to the last one, negative where the rank is not known.
std::optional<Ints> normalised_axes(const NodeView& view);

/// Operand `input` has rank 1 with `size` elements. Errors: rank_mismatch, shape_mismatch.
Result<void> require_vector(const NodeView& view, size_t input, Dim size, std::string_view what);

}  // namespace tenon::ops
