// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/constant.h"

namespace tenon::ir {

/// A matrix [rows, columns] of codes in groups along its rows, each group with a scale and a zero point: (code - zero) * scale.
struct GroupedCodes {
  int64_t rows = 0, columns = 0;
  int code_bits = 4;                ///< 4 or 8
  int64_t group = 0;                ///< elements of a group; divides `columns`
  std::vector<uint8_t> codes = {};  ///< [rows, columns], 0 to 2^code_bits - 1
  std::vector<float> scales = {};   ///< [rows, columns / group]
  std::vector<float> zeros = {};    ///< likewise; empty: all are middle_code(code_bits)
};

/// Elements of a block that holds a group, or an equal part of one: 32, 64, 128 or 256. 0: no such block does, for this group or these
/// columns.
int block_of_group(int64_t group, int64_t columns);

/// The matrix as a constant in blocks of grouped_codes(), without minima where all zero points are the middle. Of a block of fewer elements
/// than a group, scales are repeated. Cost: a pass over the codes, on the default thread pool. Asserts that sizes fit and block_of_group()
/// > 0. Errors: bad_input (a scale or minimum that is not finite, with its row and group), out_of_memory.
Result<ConstantRef> grouped_constant(const GroupedCodes& matrix);

/// [rows, columns] to [columns, rows].
std::vector<uint8_t> transposed(std::span<const uint8_t> codes, int64_t rows, int64_t columns);
std::vector<float> transposed(std::span<const float> numbers, int64_t rows, int64_t columns);

}  // namespace tenon::ir
