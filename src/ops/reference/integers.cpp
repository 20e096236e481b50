// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/integers.h"

namespace tenon::ops {

int64_t smallest_integer(DType dtype) {
  if (dtype == DType::boolean || !is_signed(dtype)) return 0;
  return static_cast<int64_t>(uint64_t{1} << (bits_of(dtype) - 1)) * (bits_of(dtype) == 64 ? 1 : -1);
}

int64_t largest_integer(DType dtype) {
  if (dtype == DType::boolean) return 1;
  const int bits = bits_of(dtype) - (is_signed(dtype) ? 1 : 0);
  return bits == 64 ? -1 : static_cast<int64_t>((uint64_t{1} << bits) - 1);
}

}  // namespace tenon::ops
