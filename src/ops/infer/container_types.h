// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/types.h"

namespace tenon::ops {

/// A type of which nothing is known, not even whether it is a tensor.
inline bool is_unknown(const Type& type) { return type.is_tensor() && type.dtype == DType::none && !type.has_rank(); }
/// The operand is missing, unknown, or of that kind. Errors: dtype_mismatch.
Result<void> require_tensor(const NodeView& view, size_t input);
Result<void> require_sequence(const NodeView& view, size_t input);
/// The same for a map with keys of dtype `key`.
Result<void> require_map(const NodeView& view, size_t input, DType key);
/// `type` is a tensor; `what` names the value in the message. Errors: dtype_mismatch.
Result<void> require_tensor(const NodeView& view, const Type& type, std::string_view what);

/// `type` with another kind: a sequence, or an optional, of tensors of that dtype and shape.
Type with_kind(Type type, ValueKind kind);
/// The most specific type that covers the tensors of both `a` and `b` (tensors or containers of them): sizes that differ or are no numbers
/// become fresh symbols, ranks that differ an unknown rank. The kind is that of `a`. Errors: dtype_mismatch.
Result<Type> common_element_type(const NodeView& view, const Type& a, const Type& b);
/// The type of one tensor in a container: each tensor may have sizes of its own, so sizes that are no numbers are fresh symbols, or those
/// of `before`, an earlier result for the same tensor.
Type element_type(const NodeView& view, const Type& holder, const Type& before = {});

}  // namespace tenon::ops
