// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/group_codes.h"

#include "base/blocks/grouped_codes.h"
#include "base/checked.h"

namespace tenon::rules {

bool is_read_constant(const rewrite::GraphQuery& query, ir::ValueId value) {
  return query.is_constant(value) && !query.value(value).constant->unread();
}

int64_t known_count(const rewrite::GraphQuery& query, ir::ValueId value) {
  const DimList* const shape = value ? query.shape(value) : nullptr;
  const Dim count = shape ? product(*shape) : Dim(-1);
  return count.is_number() ? count.value() : -1;
}

std::vector<uint8_t> codes_in_rows(const Tensor& tensor, int bits, int64_t rows, int64_t count) {
  const int64_t row_bytes = ceil_div(count * bits, 8);
  TENON_ASSERT(rows * row_bytes <= tensor.byte_size());
  const auto move = static_cast<uint8_t>(is_signed(tensor.dtype()) ? middle_code(bits) : 0);
  std::vector<uint8_t> out(static_cast<size_t>(rows * count));
  const auto* const bytes = reinterpret_cast<const uint8_t*>(tensor.data());
  for (int64_t r = 0; r < rows; ++r) {
    const uint8_t* const from = bytes + r * row_bytes;
    uint8_t* const to = out.data() + r * count;
    if (bits == 8)
      for (int64_t k = 0; k < count; ++k) to[k] = from[k] ^ move;
    else
      for (int64_t k = 0; k < count; ++k) to[k] = (from[k / 2] >> (k % 2 * 4) & 15) ^ move;
  }
  return out;
}

std::vector<float> floats_of(const Tensor& tensor) {
  const auto numbers = tensor.as<float>();
  return {numbers.begin(), numbers.end()};
}

std::vector<float> floats_of(std::span<const uint8_t> codes) { return {codes.begin(), codes.end()}; }

}  // namespace tenon::rules
