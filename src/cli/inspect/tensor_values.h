// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "base/tensor.h"

namespace tenon::cli {

/// One element of a tensor: as short as reads back to the same value.
std::string element_text(const Tensor& t, int64_t i);
/// All elements, a row a line: "[[1, 2],\n [3, 4]]". t: no container of tensors.
std::string values_text(const Tensor& t);
/// All elements as nested lists, the element itself of a scalar. What JSON has no number for is a text: "nan", "inf", "-inf", complex
/// numbers ("1+2j").
nlohmann::ordered_json json_of_values(const Tensor& t);

}  // namespace tenon::cli
