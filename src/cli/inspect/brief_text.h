// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/tensor.h"

namespace tenon::cli {

/// The most elements of a value that are shown.
inline constexpr int64_t kMostShown = 16;

/// "[1, 2, 3]"; of more than kMostShown elements the type, "f32[64,3]".
std::string brief_text(const Tensor& value);

}  // namespace tenon::cli
