// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "base/result.h"

namespace tenon::import {

/// Checks an exported model, without the root's initializers (`weights`: their names), as a reader does: each operand
/// is an input, an initializer or the result of an earlier node of its graph, body or function, or of a graph around it; each name is
/// defined once; each output is defined; each domain is imported and each function that is called is there. What a node itself may be is
/// checked where it is written (ops/versions/onnx_schema.h). Errors: internal, naming the node.  Cost: one pass over the nodes, bodies and
/// functions.
Result<void> check_written(std::string_view model, std::span<const std::string_view> weights);

}  // namespace tenon::import
