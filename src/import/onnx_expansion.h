// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "import/onnx_model.h"
#include "import/onnx_support.h"

namespace tenon::import {

/// Checks, before functions are expanded, how many values the expanded model has: a short chain of functions, each of which calls the next
/// twice, would exhaust memory. The limit is 256 times the values in the file or 2^20, whichever is more, and never more than
/// limits.values. Errors: limit_exceeded (too many values, calls nested too deeply, a recursive function). Cost: linear in the file.
Result<void> check_expansion(const OnnxModel& model, const FunctionTable& functions, const ir::OpTable& ops, const OnnxLimits& limits,
                             std::string_view file);

}  // namespace tenon::import
