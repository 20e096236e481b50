// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "base/tensor.h"
#include "rewrite/match.h"

namespace tenon::rules {

/// Whether the value is a constant whose bytes can be read.
bool is_read_constant(const rewrite::GraphQuery& query, ir::ValueId value);
/// Elements of a value of known sizes; -1: they are not known.
int64_t known_count(const rewrite::GraphQuery& query, ir::ValueId value);

/// The first `count` numbers of `bits` bits (4 or 8) of each row of a tensor of integers, low bits first; a row begins at a byte. Those of
/// signed types are moved up by the middle of their range: -8 is 0. Asserts that the rows have so many.
std::vector<uint8_t> codes_in_rows(const Tensor& tensor, int bits, int64_t rows, int64_t count);

/// f32 of a tensor of f32, or of codes.
std::vector<float> floats_of(const Tensor& tensor);
std::vector<float> floats_of(std::span<const uint8_t> codes);

}  // namespace tenon::rules
