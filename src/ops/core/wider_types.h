// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// The node's results are functions of the operands' values, whatever their types: the op is known, deterministic, without effects and
/// bodies, and does not read bit patterns.
bool is_value_function(const NodeView& view);

/// How much of a result is right when a node is computed in wider types: nothing, its low bits, or its value.
enum class Preserved : uint8_t { nothing, low_bits, value };

/// Compares a node (`narrow`) with the same node on operands that were cast to types which keep all their values (`wide`): what of each
/// result is preserved. Float results count as `value`: they are at least as precise. For integers the loop forms decide: sums and products
/// preserve low bits; comparisons, divisions and right shifts need operands without overflow; and the form must not contain a bound of the
/// type. Both views are inferred and have the same sizes. `low_bits`: operands of `wide` that are integers of which the low bits alone are
/// right; may be shorter. Cost: that of building two loop forms.
std::vector<Preserved> preserved_in_wider(const NodeView& narrow, const NodeView& wide, const std::vector<bool>& low_bits = {});

/// All results, cast back, equal those of the unchanged node: integers and bools to the bit.
bool same_in_wider(const NodeView& narrow, const NodeView& wide);

}  // namespace tenon::ops
