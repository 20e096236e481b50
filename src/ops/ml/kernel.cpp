// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/kernel.h"

#include <algorithm>

#include "ops/core/refuse.h"

namespace tenon::ops {

double SvmKernel::operator()(std::span<const double> a, std::span<const double> b) const {
  double dot = 0, distance = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    dot += a[k] * b[k];
    distance += (a[k] - b[k]) * (a[k] - b[k]);
  }
  switch (kind) {
    case Kind::poly: return std::pow(gamma * dot + offset, degree);
    case Kind::rbf: return std::exp(-gamma * distance);
    case Kind::sigmoid: return std::tanh(gamma * dot + offset);
    case Kind::linear: break;
  }
  return dot;
}

Result<SvmKernel> svm_kernel(const NodeView& view) {
  constexpr std::string_view kNames[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
  const std::string name = view.attributes->text("kernel_type", "LINEAR");
  const auto at = std::ranges::find(kNames, name);
  if (at == std::end(kNames))
    return refuse(view, Code::bad_attribute, "unknown kernel_type").expected("LINEAR, POLY, RBF or SIGMOID").found(name);
  SvmKernel kernel{static_cast<SvmKernel::Kind>(at - std::begin(kNames))};
  const std::vector<double> parameters = float_list(view, "kernel_params");
  if (parameters.size() != 3) {
    if (kernel.kind == SvmKernel::Kind::linear && parameters.empty()) return kernel;
    return refuse(view, Code::bad_attribute, "kernel_params must be gamma, offset and degree").found(std::to_string(parameters.size()));
  }
  kernel.gamma = parameters[0];
  kernel.offset = parameters[1];
  kernel.degree = parameters[2];
  return kernel;
}

std::vector<double> float_list(const NodeView& view, std::string_view name) {
  const ir::Floats values = view.attributes->floats(name);
  return {values.begin(), values.end()};
}

}  // namespace tenon::ops
