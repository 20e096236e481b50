// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "base/tensor.h"

namespace tenon::cli {

/// One element as text: the shortest that reads back as the same value.
std::string element_text(const Tensor& t, int64_t i);
/// All elements, a row a line: "[[1, 2],\n [3, 4]]". t: no container of tensors.
std::string values_text(const Tensor& t);
/// All elements as nested lists; of a scalar its element. Values without a JSON number are strings: "nan", "inf", "-inf", complex
/// numbers ("1+2j").
nlohmann::ordered_json json_of_values(const Tensor& t);

}  // namespace tenon::cli
