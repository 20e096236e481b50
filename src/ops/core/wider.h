// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Its results follow from the values of its operands alone, whatever their type: it reads no bits, draws no numbers, has no effects and no
/// bodies, and the op is known to Tenon.
bool is_value_function(const NodeView& view);

/// What a result in wider types determines of the node's own: nothing, its low bits, or its value.
enum class Preserved : uint8_t { nothing, low_bits, value };

/// Of each result of a node on operands that were cast to types which keep all their values, against the unchanged node. Floats count as
/// their values: they are rounded in another place, and are at least as precise. Of integers it is read from the loop form: sums and
/// products keep their low bits; what compares, divides or shifts right must see whole values, not what has already run over; and no
/// bound of a type may occur in it. Both views are inferred, and their sizes are the same. `low_bits`: operands of which `wide` is given
/// integers whose low bits alone are right; may be shorter. Cost: that of two forms.
std::vector<Preserved> preserved_in_wider(const NodeView& narrow, const NodeView& wide, const std::vector<bool>& low_bits = {});

/// All results, cast back, are those of the unchanged node: integers and bools to the bit.
bool same_in_wider(const NodeView& narrow, const NodeView& wide);

}  // namespace tenon::ops
