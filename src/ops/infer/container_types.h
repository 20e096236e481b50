// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/types.h"

namespace tenon::ops {

/// Nothing is known, not even whether it is a tensor.
inline bool is_unknown(const Type& type) { return type.is_tensor() && type.dtype == DType::none && !type.has_rank(); }
/// The operand is missing, unknown, or of that kind. Errors: dtype_mismatch.
Result<void> require_tensor(const NodeView& view, size_t input);
Result<void> require_sequence(const NodeView& view, size_t input);
/// A map with keys of that type.
Result<void> require_map(const NodeView& view, size_t input, DType key);
/// A type that is stacked, sliced or broadcast: `what` must be a tensor. Errors: dtype_mismatch.
Result<void> require_tensor(const NodeView& view, const Type& type, std::string_view what);

/// A sequence, or an optional, of what `type` says of tensors.
Type with_kind(Type type, ValueKind kind);
/// What holds for the tensors of both (which are tensors, or hold them): sizes that differ or are no numbers are fresh, ranks that differ
/// give an unknown one. The kind is a's. Errors: dtype_mismatch.
Result<Type> common_element(const NodeView& view, const Type& a, const Type& b);
/// The type of one tensor of what holds tensors: each may have sizes of its own, so those that are no numbers are fresh symbols; or those
/// of `before`, an earlier answer for the same tensor.
Type element_type(const NodeView& view, const Type& holder, const Type& before = {});

}  // namespace tenon::ops
