// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/row_stack.h"

#include <cstring>

namespace tenon::runtime {

void copy_row(const Tensor& row, std::byte* to, int64_t begin) {
  const int bits = bits_of(row.dtype());
  const int64_t from_bit = begin * bits;
  if (row.count() == 0) return;
  if (from_bit % 8 == 0) {
    const auto bytes = static_cast<size_t>(row.byte_size());
    std::memcpy(to + from_bit / 8, row.data(), bytes);
    const int64_t last = row.count() * bits % 8;  // bits of its last byte, 0: all
    if (last > 0) to[from_bit / 8 + static_cast<int64_t>(bytes) - 1] &= static_cast<std::byte>((1 << last) - 1);
    return;
  }
  const auto mask = static_cast<std::byte>((1 << bits) - 1);
  for (int64_t i = 0; i < row.count(); ++i) {
    const int64_t from = i * bits, at = from_bit + from;
    const std::byte element = (row.data()[from / 8] >> (from % 8)) & mask;
    std::byte& byte = to[at / 8];
    byte = at % 8 == 0 ? element : byte | (element << (at % 8));
  }
}

void RowStack::clear() {
  elements_ = 0;
  strings_.clear();
}

Result<void> RowStack::push(const Tensor& row) {
  if (row.dtype() == DType::string) {
    strings_.insert(strings_.end(), row.strings().begin(), row.strings().end());
  } else {
    const int64_t used = bytes_of(row.dtype(), elements_), needed = bytes_of(row.dtype(), elements_ + row.count());
    if (bytes_.empty_handle() || needed > bytes_.byte_size()) {
      Tensor larger = TRY(Tensor::make(DType::u8, {used + needed}));
      if (used > 0) std::memcpy(larger.mutable_data(), bytes_.data(), static_cast<size_t>(used));
      bytes_ = std::move(larger);
    }
    copy_row(row, bytes_.mutable_data(), elements_);
  }
  elements_ += row.count();
  row_shape_ = row.shape();
  return {};
}

Result<Tensor> RowStack::stacked(DType dtype, Sizes shape) const {
  if (dtype == DType::string) return Tensor::of_strings(std::move(shape), strings_);
  Tensor out = TRY(Tensor::make(dtype, std::move(shape)));
  if (out.byte_size() > 0) std::memcpy(out.mutable_data(), bytes_.data(), static_cast<size_t>(out.byte_size()));
  return out;
}

}  // namespace tenon::runtime
