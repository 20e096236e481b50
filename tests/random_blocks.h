// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "ir/constant.h"
#include "ops/core/sample.h"

namespace tenon::tests {

/// f32[rows, depth] in blocks of random bytes, whose elements are at most 1: blocks with larger ones are drawn again. For formats that
/// Tenon does not write, too.
inline ir::ConstantRef random_blocks(const BlockFormat& format, int64_t rows, int64_t depth, uint64_t seed) {
  Tensor blocks = *Tensor::make(DType::u8, {static_cast<int64_t>(*block_bytes(format, static_cast<uint64_t>(rows * depth)))});
  const auto is_large = [](float v) { return !(std::abs(v) <= 1); };
  std::vector<float> values(static_cast<size_t>(format.elements));
  uint64_t drawn = seed * 1'000'003;
  for (int64_t at = 0; at < blocks.count(); at += format.bytes) {
    std::byte* const block = blocks.mutable_data() + at;
    do {
      const Tensor random = *ops::random_tensor(DType::u8, {format.bytes}, drawn++, 0, 255);
      std::memcpy(block, random.data(), static_cast<size_t>(format.bytes));
      format.decode(block, values.data());
    } while (std::ranges::any_of(values, is_large));
  }
  return ir::decode_blocks(std::move(blocks), format, {rows, depth});
}

}  // namespace tenon::tests
