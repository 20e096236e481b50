// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "rewrite/match.h"

namespace tenon::rules {

/// (data - zero) * scale in f32, the operands of a DequantizeLinear of 8-bit integers.
struct Dequantized {
  ir::ValueId data, scale, zero;  ///< zero: none where it is missing
};
/// The operands of the DequantizeLinear whose result `value` is, with one scale for the whole tensor; nullopt for other values.
std::optional<Dequantized> dequantized_per_tensor(const rewrite::Match& m, ir::ValueId value);
/// The same for constant data, with a scale for the whole tensor or for each index of `axis`, and a constant zero point.
std::optional<Dequantized> dequantized_weights(const rewrite::Match& m, ir::ValueId value, int axis);

}  // namespace tenon::rules
