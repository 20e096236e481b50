// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/tensor.h"

namespace tenon::ir {

/// The text in double quotes; control characters, quotes and backslashes escaped (\n, \t, \xHH), other bytes as they are.
std::string quoted(std::string_view text);
/// True where the text form can write `text` without quotes as a value, graph, attribute or op name.
bool is_bare_name(std::string_view text);
/// The name as the text form writes it: bare where it can be, else quoted.
std::string name_text(std::string_view name);

/// The shortest digits that read back as the same number: "1", "0.1", "1e+20", "inf", "-inf", "nan".
std::string number_text(float value);
std::string number_text(double value);
/// Like number_text, but always recognisable as a float: "1.0".
std::string float_literal(float value);

/// Element `i` as the text form writes it: 3, 0.5, true, "text", (1, -2) for complex.
std::string element_text(const Tensor& tensor, int64_t i);
/// "[1, 2, 3]": all elements in row-major order.
std::string elements_text(const Tensor& tensor);
/// Whether all elements have the same bits; false for fewer than two elements and for strings.
bool is_splat(const Tensor& tensor);
/// Equal dtype, shape and bits (NaN equals itself, 0 differs from -0).
bool same(const Tensor& a, const Tensor& b);
size_t hash_of(const Tensor& tensor);

}  // namespace tenon::ir
