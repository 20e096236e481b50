// SPDX-License-Identifier: Apache-2.0
// Magnitudes of adapters (DoRA, https://arxiv.org/abs/2402.09353). Source: peft/tuners/lora/variants.py.
#include <cmath>

#include "nn/adapters/weight_updates.h"

namespace tenon::nn {
namespace {

/// The 2-norm of each row (axis 0) or column (axis 1) of an f32 matrix.
std::vector<double> two_norms(const Tensor& matrix, int axis) {
  const auto rows = static_cast<size_t>(matrix.shape()[0]), columns = static_cast<size_t>(matrix.shape()[1]);
  const std::span<const float> elements = matrix.as<float>();
  std::vector<double> out(axis == 0 ? rows : columns);
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) {
      const auto element = static_cast<double>(elements[row * columns + column]);
      out[axis == 0 ? row : column] += element * element;
    }
  for (double& sum : out) sum = std::sqrt(sum);
  return out;
}

}  // namespace

Result<ir::ConstantRef> rescaled(ir::ConstantRef weight, const Magnitudes& magnitudes) {
  const std::vector<double> norms = two_norms(TRY(ir::materialise(*weight)), magnitudes.axis);
  Tensor factors = TRY(Tensor::make(DType::f64, {static_cast<int64_t>(norms.size())}));
  const Tensor target_norms = TRY(ir::materialise(*ir::cast(magnitudes.values, DType::f64)));
  for (size_t i = 0; i < norms.size(); ++i) factors.as_mutable<double>()[i] = norms[i] == 0 ? 0 : target_norms.as<double>()[i] / norms[i];
  return ir::scale(std::move(weight), ir::constant_of(std::move(factors)), magnitudes.axis);
}

}  // namespace tenon::nn
