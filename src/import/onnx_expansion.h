// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "import/onnx_model.h"
#include "import/onnx_support.h"

namespace tenon::import {

/// Counts the values of a model after its functions are expanded, before expansion: a few functions that each call the next twice would
/// exceed all memory. Expanded values may be 256 times those in the file (and a million in any case, and limits.values at most). Errors:
/// limit_exceeded (too many values, calls that are too deep, a function that calls itself). Cost: linear in the file.
Result<void> check_expansion(const OnnxModel& model, const FunctionTable& functions, const ir::OpTable& ops, const OnnxLimits& limits,
                             std::string_view file);

}  // namespace tenon::import
