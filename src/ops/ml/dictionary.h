// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/types.h"

namespace tenon::ops {

/// What an element becomes: `values` at the place of the first of `keys` that is equal (NaN is equal to NaN), else `otherwise`.
struct Dictionary {
  Tensor keys, values, otherwise;
};
/// Result 0 has the shape of operand 0 and the dtype of the values. Errors: dtype_mismatch where keys have another dtype than the operand,
/// bad_attribute where keys and values differ in number.
Result<void> infer_look_up(NodeView& view, const Dictionary& dictionary);
Result<void> look_up(Call& call, const Dictionary& dictionary);
/// What the elements of `x` become; y: as many elements.
void look_up(const Tensor& x, const Dictionary& dictionary, Tensor& y);

/// An attribute that lists texts; empty where it is missing.
ir::Strings texts_named(const NodeView& view, std::string_view name);
Tensor texts(const ir::Strings& list);
Tensor integers(const Ints& list);
Tensor floats(const ir::Floats& list);
Tensor text(std::string value);

}  // namespace tenon::ops
