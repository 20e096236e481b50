// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>

#include "ops/infer/types.h"

namespace tenon::ops {

/// Integer elements of an operand, empty where it is missing.
Ints ints_of(const Call& call, size_t input);
/// The elements of attribute `attribute`, else of operand `input`; nullopt where both are missing.
std::optional<Ints> ints_of(const Call& call, std::string_view attribute, size_t input);
/// The first element of an operand; `otherwise` where the operand is missing or empty.
int64_t int_of(const Call& call, size_t input, int64_t otherwise);
double number_of(const Call& call, size_t input, double otherwise);

}  // namespace tenon::ops
