// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/analysis/padding.h"

namespace tenon::codegen {

/// A contraction that is a convolution of planes by constant 3x3 kernels, in steps of one, ungrouped.
struct Convolution {
  /// Numbers of the nest's axes.
  enum Axis : int { batch, output, row, column, input, kernel_row, kernel_column, axes };

  int data = -1, kernels = -1;               ///< accesses
  int data_rows = -1, data_columns = -1;     ///< dimensions of the data that the windows slide along
  Dim first_row, first_column;               ///< of the data: what the first window begins with; negative: in the padding
  std::optional<IndexBounds> rows, columns;  ///< of the data
  int64_t inputs = 0, outputs = 0;           ///< channels
  Dim images, result_rows, result_columns;
};

/// nullopt where the group is none.
std::optional<Convolution> convolution_of(const Group& group, const Plan& plan);

/// How many outputs a way of its tiles should have: 2 or 4, or 0 where the plain sum takes no longer. By the work of the products and the
/// bytes of the intermediate results between the steps; a size that is known only at run time counts as one image of a usual size.
int tile_outputs(const Convolution& c, const PlanLimits& limits);

}  // namespace tenon::codegen
