// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <complex>

#include "ops/core/op.h"

namespace tenon::ops {

/// Infers HannWindow, HammingWindow and BlackmanWindow: operand 0 is the number of elements, attribute output_datatype their type.
Result<void> infer_window(NodeView& view);
/// For OpDef::lowest_opset: no version of ONNX infers the shape of a window without elements.
int lowest_opset_of_window(const NodeView& view);
/// value(2 pi n / N) for n = 0, 1, ...; N is the size, less one where not periodic.
Result<void> window_reference(Call& call, double (*value)(double phase));
/// The same as a loop form, for floats and a size that the symbols give.
Result<LoopForm> window_form(const NodeView& view, Expr (*value)(Expr phase));

using Complex = std::complex<double>;
/// The discrete Fourier transform of `x`, by definition; inverse: divided by the length. Cost: quadratic.
std::vector<Complex> fourier(const std::vector<Complex>& x, bool inverse);

/// A discrete Fourier transform as a matrix [inputs * in_parts, outputs * out_parts], f32 or f64; parts: real and imaginary.
struct FourierMatrix {
  int64_t length = 0, inputs = 0, outputs = 0, in_parts = 1, out_parts = 2;
  bool inverse = false;   ///< exponents of the opposite sign, divided by the length
  bool mirrored = false;  ///< the inputs are the first half of a spectrum whose other half mirrors it
  bool fits() const;      ///< it is small enough to be a constant (64 MB or less)
  Tensor make(DType dtype) const;
};

}  // namespace tenon::ops
