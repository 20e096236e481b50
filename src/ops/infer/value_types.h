// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/types.h"

namespace tenon::ops {

/// Whether the value is of that type. An unknown dtype, rank or size of the type fits any; where `wide`, f64 fits every float dtype.
bool fits(const Type& type, const Tensor& value, bool wide);
/// The type of a value. The dtype is that of `declared` where it has one (in wide mode floats are stored as f64); sizes of tensors that
/// differ within a sequence are fresh symbols, ranks that differ an unknown rank; what an empty sequence or optional leaves open is as
/// declared. Errors: dtype_mismatch (tensors of one sequence differ).
Result<Type> type_of(const NodeView& view, const Type& declared, const Tensor& value);

}  // namespace tenon::ops
