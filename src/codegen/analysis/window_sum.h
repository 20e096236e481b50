// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/analysis/padding.h"

namespace tenon::codegen {

/// A dimension of an array that a window slides along: its index is output * step + kernel * dilation + offset.
struct Slide {
  int output = -1, kernel = -1;  ///< axes
  int64_t step = 1, dilation = 1;
  Dim offset;
  Inside inside;
};

/// A sum of products that each channel makes of its own window (a depthwise convolution): nothing is shared between channels, so there is
/// no contraction. Images or lines, channels next to each other in all but the weights.
struct WindowSum {
  int data = -1, weights = -1;  ///< accesses
  int channels = -1;            ///< axis
  Slide columns;
  std::optional<Slide> rows;
};

/// nullopt where the nest is none.
std::optional<WindowSum> window_sum_of(const Nest& nest, const Plan& plan);

}  // namespace tenon::codegen
