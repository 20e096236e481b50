// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Substitutes the leaves (inputs, axes, dims) of every expression of the nest; `leaf` returns null to keep a leaf.
void rewrite(Nest& nest, const std::function<Expr(const ExprNode&)>& leaf);

/// What inline_into did.
enum class InlineResult : uint8_t {
  refused,   ///< nothing: the accessed element cannot be expressed by the producer's axes
  in_place,  ///< the access reads another array
  appended,  ///< removed the access from the list, and appended those of the producer
};
/// Replaces access `access` of `consumer` by the body of `producer` (a map that writes the accessed array).
InlineResult inline_into(const Nest& producer, Nest& consumer, size_t access, const Plan& plan);

}  // namespace tenon::codegen
