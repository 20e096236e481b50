// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <complex>

#include "ops/reference_helpers.h"

namespace tenon::ops {

/// HannWindow and its kin: operand 0 is the number of elements, attribute output_datatype their type.
Result<void> infer_window(NodeView& view);
/// value(2 pi n / N) for n = 0, 1, ...; N is the size, less one where not periodic.
Result<void> window_reference(Call& call, double (*value)(double turn));

using Complex = std::complex<double>;
/// The discrete Fourier transform of `x`, by definition; inverse: divided by the length. Cost: quadratic.
std::vector<Complex> fourier(const std::vector<Complex>& x, bool inverse);

}  // namespace tenon::ops
