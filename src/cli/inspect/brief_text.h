// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/tensor.h"

namespace tenon::cli {

/// How many elements of a value are shown.
inline constexpr int64_t kMostShown = 16;

/// "[1, 2, 3]"; of more than kMostShown elements the type, "f32[64,3]".
std::string brief_text(const Tensor& value);

}  // namespace tenon::cli
