// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "runtime/program.h"

namespace tenon::runtime {

/// Checks that no size in lines [0, to) that a buffer, step or guard uses is the result of a division by zero. The operand that a `select`
/// did not choose is not used. Errors: shape_mismatch, at the value or step that uses it.
/// Cost: linear in the lines where nothing is divided by zero.
Result<void> check_divisions(const Program& program, uint32_t to, const std::vector<int64_t>& values);

}  // namespace tenon::runtime
