// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/types.h"

namespace tenon::ops {

/// A table that maps elements: to the element of `values` at the position of the first equal one of `keys` (NaN equals NaN), else to
/// `default_value`.
struct LookupTable {
  Tensor keys, values, default_value;
};
/// Result 0 has the shape of operand 0 and the dtype of the values. Errors: dtype_mismatch where keys have another dtype than the operand,
/// bad_attribute where keys and values differ in number.
Result<void> infer_look_up(NodeView& view, const LookupTable& lookup_table);
/// The reference: maps operand 0 to result 0.
Result<void> look_up(Call& call, const LookupTable& lookup_table);
/// Maps each element of `x`; y: a tensor of as many elements.
void look_up(const Tensor& x, const LookupTable& lookup_table, Tensor& y);

/// An attribute that is a list of strings; empty where it is missing.
ir::Strings texts_named(const NodeView& view, std::string_view name);
/// Tensors of rank 1 (of rank 0: text) with these elements.
Tensor texts(const ir::Strings& list);
Tensor integers(const Ints& list);
Tensor floats(const ir::Floats& list);
Tensor text(std::string value);

}  // namespace tenon::ops
