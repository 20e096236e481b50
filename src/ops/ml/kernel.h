// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "ops/ml/features.h"

namespace tenon::ops {

/// What support vector machines compare two samples with.
struct SvmKernel {
  enum class Kind : uint8_t { linear, poly, rbf, sigmoid } kind = Kind::linear;
  double gamma = 0, offset = 0, degree = 0;

  double operator()(std::span<const double> a, std::span<const double> b) const;
};
/// Attributes kernel_type and kernel_params (gamma, offset, degree). Errors: bad_attribute.
Result<SvmKernel> svm_kernel(const NodeView& view);
/// A list of floats as doubles; empty where it is missing.
std::vector<double> float_list(const NodeView& view, std::string_view name);

}  // namespace tenon::ops
