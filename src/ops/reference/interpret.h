// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "ops/core/loop.h"

namespace tenon::ops {

/// Interprets a loop form element by element. It defines what a form means: tests compare generated code with it.
/// operands: one a node operand (nullptr: missing). value_of: numbers for the symbols of sizes.
/// Expressions are computed in fp64; each output is rounded to its dtype once.
/// Errors: index_out_of_range where an access is out of bounds although its predicate holds; internal for a malformed form. Cost: slow.
Result<std::vector<Tensor>> interpret(const LoopForm& form, std::span<const Tensor* const> operands,
                                      const std::function<Dim(const DimNode& symbol)>& value_of);

}  // namespace tenon::ops
