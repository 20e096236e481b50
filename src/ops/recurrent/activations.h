// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

struct ActivationKind;

/// An activation of RNN, GRU or LSTM: applied to a number, or built in plain ops.
struct Activation {
  const ActivationKind* kind = nullptr;
  double alpha = 0, beta = 0;

  double operator()(double x) const;
  ir::ValueId operator()(ir::Builder& build, ir::ValueId x) const;
};

/// The activations of one direction: those of attribute `activations`, else `otherwise`. Errors: bad_attribute for an unknown name.
Result<std::vector<Activation>> activations_of(const NodeView& view, size_t direction, std::span<const std::string_view> otherwise);

}  // namespace tenon::ops
