// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "ops/core/op.h"

namespace tenon::ops {

/// Moves attribute `name` (an int, ints, float or tensor) to operand `slot` as a constant, filling skipped slots with none.
/// Does nothing where the attribute is missing.
Result<void> attribute_to_operand(ir::Graph& graph, ir::NodeId node, std::string_view name, uint32_t slot, DType dtype = DType::i64);
/// Sets operand `slot`, extending the operand list with missing operands where it is shorter.
void put_operand(ir::Graph& graph, ir::NodeId node, uint32_t slot, ir::ValueId value);
/// Moves constant operand `slot` to attribute `name` as ints (scalar: as one int). Errors: not_supported where it is not constant.
Result<void> operand_to_attribute(ir::Graph& graph, ir::NodeId node, uint32_t slot, std::string_view name, bool scalar = false);
/// Moves constant operand `slot` to attribute `name` as floats. Errors: not_supported where it is not constant.
Result<void> numbers_to_attribute(ir::Graph& graph, ir::NodeId node, uint32_t slot, std::string_view name);
/// Sets an attribute where it is missing (an older version had another default).
void default_attribute(ir::Graph& graph, ir::NodeId node, std::string_view name, ir::Attribute value);
/// Does nothing where the attribute is missing.
void rename_attribute(ir::Graph& graph, ir::NodeId node, std::string_view from, std::string_view to);

}  // namespace tenon::ops
