// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Substitutes the leaves (inputs, axes, dims) of every expression of the nest; a null answer keeps a leaf.
void rewrite(Nest& nest, const std::function<Expr(const ExprNode&)>& leaf);

/// What became of the replaced access: nothing, it reads elsewhere now, or it left the list and new ones were appended.
enum class Inlined : uint8_t { refused, in_place, appended };
/// Replaces access `access` of `consumer` by the body of `producer` (a map that writes the accessed array).
/// Refused, and nothing is changed, where the accessed place cannot be determined in the producer's axes.
Inlined inline_into(const Nest& producer, Nest& consumer, size_t access, const Plan& plan);

}  // namespace tenon::codegen
