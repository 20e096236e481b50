// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "codegen/target.h"

namespace tenon::codegen {

/// The dtype that operands of large matrix products of f32 are rounded to. Sums, and everything else, stay f32.
enum class Precision : uint8_t { f32, bf16 };

std::string_view name_of(Precision precision);
/// Errors: bad_usage with the names that there are.
Result<Precision> precision_named(std::string_view name);
/// Errors: wrong_target where the target has no instruction for such products, so that they would be slower than f32.
Result<void> check_precision(Precision precision, const Target& target);

/// What the operand beside a matrix in blocks is rounded to. bf16: so are the elements of the matrix. i8: codes with a scale for 16 or 32
/// neighbours along the depth; products are sums of integers then. Sums over blocks, and everything else, stay f32.
enum class Activations : uint8_t { f32, bf16, i8 };
inline constexpr std::string_view kActivationNames[] = {"f32", "bf16", "i8"};

std::string_view name_of(Activations activations);
/// Errors: wrong_target where the target has no instruction for such products, so that they would be slower than f32.
Result<void> check_activations(Activations activations, const Target& target);

}  // namespace tenon::codegen
