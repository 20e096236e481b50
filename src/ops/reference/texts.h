// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "ops/core/op.h"

namespace tenon::ops {

/// Result 0 of two broadcast operands of strings: calls visit(result, i, a, b) for each of its elements.
Result<void> each_text_pair(Call& call,
                            const std::function<void(Tensor& result, int64_t i, const std::string& a, const std::string& b)>& visit);

}  // namespace tenon::ops
