// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "ops/core/op.h"

namespace tenon::ops {

/// Computes result 0 from two broadcast operands of strings: calls visit(result, i, a, b) for each of its elements, where a and b are the
/// operands' elements.
Result<void> each_text_pair(Call& call,
                            const std::function<void(Tensor& result, int64_t i, const std::string& a, const std::string& b)>& visit);

}  // namespace tenon::ops
