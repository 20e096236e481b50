// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "runtime/program.h"

namespace tenon::runtime {

/// After lines [0, to) have values: a size that was divided by zero and that something other than a size line uses is an error.
/// What a `select` did not choose is not used. Errors: shape_mismatch, at the value or step that uses it.
/// Cost: one look at each line where nothing is divided by zero.
Result<void> check_divisions(const Program& program, uint32_t to, const std::vector<int64_t>& values);

}  // namespace tenon::runtime
