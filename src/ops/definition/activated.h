// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>

#include "ir/builder.h"

namespace tenon::ops {

/// Applies the activation of FusedConv and FusedGemm to x: Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid; "" is none.
/// parameters: LeakyRelu [slope], Clip [least, most], HardSigmoid [slope, offset]; missing ones are the op's defaults.
/// nullopt where the name is not known.
std::optional<ir::ValueId> activated(ir::Builder& build, ir::ValueId x, DType dtype, const std::string& name,
                                     std::span<const float> parameters);
/// x * factor; x itself where the factor is 1.
ir::ValueId scaled(ir::Builder& build, ir::ValueId x, DType dtype, double factor);

}  // namespace tenon::ops
