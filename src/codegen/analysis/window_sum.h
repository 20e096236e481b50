// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/analysis/padding.h"

namespace tenon::codegen {

/// A dimension of an array along which a window slides: its index is output * step + kernel * dilation + offset.
struct Slide {
  int output = -1, kernel = -1;  ///< numbers of axes
  int64_t step = 1, dilation = 1;
  Dim offset;
  IndexBounds inside;
};

/// A depthwise convolution: for each channel, a sum of products over a window of that channel alone. No contraction, since no operand is
/// shared between channels. Over one dimension (columns) or two; channels are innermost in all arrays but the weights.
struct WindowSum {
  int data = -1, weights = -1;  ///< numbers of accesses
  int channels = -1;            ///< number of an axis
  Slide columns;
  std::optional<Slide> rows;
};

/// nullopt where the nest is no window sum.
std::optional<WindowSum> window_sum_of(const Nest& nest, const Plan& plan);

}  // namespace tenon::codegen
