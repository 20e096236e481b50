// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>

#include "ops/core/op.h"

namespace tenon::ops {

using ir::Ints;
using ir::ShapeData;
using ir::Type;

bool is_number(DType dtype);  ///< float arithmetic types (no floats of 8 and 4 bits) and integers
bool is_signed_number(DType dtype);
bool is_bool(DType dtype);
bool is_index(DType dtype);  ///< i32, i64
bool is_number_or_bool(DType dtype);
/// Stores the type of result `k`; ignored where the node has fewer results.
void set_output(NodeView& view, size_t k, Type type);
/// Each of these operands is present and has a known rank.
bool ranks_known(const NodeView& view, std::initializer_list<size_t> inputs);
/// The operand's dtype; none where it is missing or not known.
DType dtype_of(const NodeView& view, size_t input);

}  // namespace tenon::ops
