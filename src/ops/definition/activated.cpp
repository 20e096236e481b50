// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/activated.h"

#include <limits>

namespace tenon::ops {

std::optional<ir::ValueId> activated(ir::Builder& build, ir::ValueId x, DType dtype, const std::string& name,
                                     std::span<const float> parameters) {
  const auto parameter = [&](size_t k, float otherwise) { return k < parameters.size() ? parameters[k] : otherwise; };
  if (name.empty()) return x;
  if (name == "Relu" || name == "Tanh" || name == "Sigmoid") return build(name, {x});
  if (name == "LeakyRelu") return build(name, {x}, {{"alpha", parameter(0, 0.01f)}});
  if (name == "HardSigmoid") return build(name, {x}, {{"alpha", parameter(0, 0.2f)}, {"beta", parameter(1, 0.5f)}});
  if (name != "Clip") return std::nullopt;
  return build(name, {x, build.scalar(dtype, parameter(0, std::numeric_limits<float>::lowest())),
                      build.scalar(dtype, parameter(1, std::numeric_limits<float>::max()))});
}

ir::ValueId scaled(ir::Builder& build, ir::ValueId x, DType dtype, double factor) {
  return factor == 1 ? x : build("Mul", {x, build.scalar(dtype, factor)});
}

}  // namespace tenon::ops
