// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "import/onnx_model.h"
#include "import/onnx_support.h"

namespace tenon::import {

/// What a model's functions expand to is counted before anything is made of it: a few functions that call each other twice would grow
/// past all memory. Expanded values may be 256 times those in the file (and a million in any case, and limits.values at most).
/// Errors: limit_exceeded (too many values, calls that are too deep, a function that calls itself). Cost: linear in the file.
Result<void> check_expansion(const OnnxModel& model, const FunctionTable& functions, const ir::OpTable& ops, const OnnxLimits& limits,
                             std::string_view file);

}  // namespace tenon::import
