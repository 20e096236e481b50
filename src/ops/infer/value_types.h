// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/types.h"

namespace tenon::ops {

/// Whether the value has that type. What the type leaves open fits, and so does f64 for any float where `wide`.
bool fits(const Type& type, const Tensor& value, bool wide);
/// What the value is, but for a dtype that is declared (in the wide mode floats are stored as f64): sizes of tensors that differ within it
/// are fresh symbols, ranks that differ give an unknown one. What an empty value does not determine is as declared. Errors: dtype_mismatch
/// (tensors of one sequence differ).
Result<Type> type_of(const NodeView& view, const Type& declared, const Tensor& value);

}  // namespace tenon::ops
