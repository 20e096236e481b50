// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/analysis/padding.h"

namespace tenon::codegen {

/// A contraction that is a two-dimensional convolution by constant 3x3 kernels with stride 1 and one group.
struct Convolution {
  /// Numbers of the nest's axes.
  enum Axis : int { batch, output, row, column, input, kernel_row, kernel_column, axes };

  int data = -1, kernels = -1;               ///< numbers of accesses
  int data_rows = -1, data_columns = -1;     ///< dimensions of the data that the windows slide along
  Dim first_row, first_column;               ///< of the data: first row and column of the first window; negative: in the padding
  std::optional<IndexBounds> rows, columns;  ///< of the data: bounds of the window's index
  int64_t inputs = 0, outputs = 0;           ///< channels
  Dim images, result_rows, result_columns;
};

/// nullopt where the group is no such convolution.
std::optional<Convolution> convolution_of(const Group& group, const Plan& plan);

/// The best number of outputs of a tile in each dimension: 2 or 4; 0 where the plain sum is as fast. Estimated from the operations of the
/// products and the bytes of intermediate results; a size that is known only at run time counts as one image of
/// PlanLimits::default_image_size.
int tile_outputs(const Convolution& c, const PlanLimits& limits);

}  // namespace tenon::codegen
