// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/op.h"

namespace tenon::ir {

/// The elements of an integer or bool tensor; nullopt where there are more than kMaxShapeData, or one is not a valid size (see Dim).
std::optional<ShapeData> shape_data_of(const Tensor& tensor);

}  // namespace tenon::ir
