// SPDX-License-Identifier: Apache-2.0
#include "ir/quantized/grouped_constant.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "base/blocks/grouped_codes.h"
#include "base/checked.h"
#include "base/threads/thread_pool.h"

namespace tenon::ir {

namespace {

template <class T>
std::vector<T> transposed_matrix(std::span<const T> from, int64_t rows, int64_t columns) {
  constexpr int64_t kTile = 64;
  std::vector<T> out(from.size());
  default_thread_pool().run(ceil_div(columns, kTile), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t first = 0; first < rows; first += kTile)
      for (int64_t c = begin * kTile; c < std::min(end * kTile, columns); ++c)
        for (int64_t r = first; r < std::min(first + kTile, rows); ++r)
          out[static_cast<size_t>(c * rows + r)] = from[static_cast<size_t>(r * columns + c)];
  });
  return out;
}

}  // namespace

int block_of_group(int64_t group, int64_t columns) {
  if (group <= 0 || columns <= 0 || columns % group != 0) return 0;
  for (const int elements : {256, 128, 64, 32})
    if (group % elements == 0) return elements;
  return 0;
}

Result<ConstantRef> grouped_constant(const GroupedCodes& m) {
  const int elements = block_of_group(m.group, m.columns);
  TENON_ASSERT(elements > 0 && m.codes.size() == static_cast<size_t>(m.rows * m.columns));
  const int64_t blocks = m.columns / elements, groups = m.columns / m.group;
  TENON_ASSERT(m.scales.size() == static_cast<size_t>(m.rows * groups) && (m.zeros.empty() || m.zeros.size() == m.scales.size()));
  const auto middle = static_cast<float>(middle_code(m.code_bits));
  const bool has_minimum = std::ranges::any_of(m.zeros, [&](float zero) { return zero != middle; });
  const BlockFormat& format = *grouped_codes(m.code_bits, elements, has_minimum);
  Tensor bytes = TRY(Tensor::make(DType::u8, {m.rows * blocks * format.bytes}));
  std::byte* const out = bytes.mutable_data();
  std::atomic<int64_t> bad{-1};  // a group whose scale or minimum is not finite
  default_thread_pool().run(m.rows, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t block = begin * blocks; block < end * blocks; ++block) {
      const int64_t row = block / blocks, group = row * groups + block % blocks * elements / m.group;
      const auto at = static_cast<size_t>(group);
      const std::span codes(&m.codes[static_cast<size_t>(block * elements)], static_cast<size_t>(elements));
      if (!put_group(format, codes, m.scales[at], m.zeros.empty() ? middle : m.zeros[at], out + block * format.bytes)) bad = group;
    }
  });
  if (bad >= 0)
    return fail(Code::bad_input, fmt::format("row {}, group {}", bad / groups, bad % groups), "a scale of quantized weights must be finite")
        .expected("a finite scale, and a finite product with its zero point")
        .found(fmt::format("scale {}", m.scales[static_cast<size_t>(bad)]));
  return decode_blocks(std::move(bytes), format, {m.rows, m.columns});
}

std::vector<uint8_t> transposed(std::span<const uint8_t> codes, int64_t rows, int64_t columns) {
  return transposed_matrix(codes, rows, columns);
}
std::vector<float> transposed(std::span<const float> numbers, int64_t rows, int64_t columns) {
  return transposed_matrix(numbers, rows, columns);
}

}  // namespace tenon::ir
