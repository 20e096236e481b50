// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "rewrite/match.h"

namespace tenon::rules {

/// (data - zero) * scale, in f32, as a DequantizeLinear of 8-bit integers says it.
struct Dequantized {
  ir::ValueId data, scale, zero;  ///< zero: none where it is missing
};
/// With one scale for all. nullopt where something else makes `value`.
std::optional<Dequantized> dequantized_alike(const rewrite::Match& m, ir::ValueId value);
/// Of a constant, with one scale for all or one an index of `axis`; the zero point is constant too.
std::optional<Dequantized> dequantized_weights(const rewrite::Match& m, ir::ValueId value, int axis);

}  // namespace tenon::rules
