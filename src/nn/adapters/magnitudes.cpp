// SPDX-License-Identifier: Apache-2.0
// Magnitudes of adapters (DoRA, https://arxiv.org/abs/2402.09353). Source: peft/tuners/lora/variants.py.
#include <cmath>

#include "nn/adapters/changes.h"

namespace tenon::nn {
namespace {

/// 2-norms of rows (axis 0) or columns (axis 1) of a matrix of f32.
std::vector<double> norms_of(const Tensor& matrix, int axis) {
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

Result<ir::ConstantRef> scaled_to(ir::ConstantRef weight, const Magnitudes& magnitudes) {
  const std::vector<double> norms = norms_of(TRY(ir::materialise(*weight)), magnitudes.axis);
  Tensor factors = TRY(Tensor::make(DType::f64, {static_cast<int64_t>(norms.size())}));
  const Tensor wanted = TRY(ir::materialise(*ir::cast(magnitudes.values, DType::f64)));
  for (size_t i = 0; i < norms.size(); ++i) factors.as_mutable<double>()[i] = norms[i] == 0 ? 0 : wanted.as<double>()[i] / norms[i];
  return ir::scale(std::move(weight), ir::constant_of(std::move(factors)), magnitudes.axis);
}

}  // namespace tenon::nn
