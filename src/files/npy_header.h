// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/tensor.h"
#include "files/npy.h"

namespace tenon::files {

/// The header of an .npy file (NumPy's lib/format.py describes it).
struct NpyHeader {
  char kind = 0;         ///< kind of dtype: 'b', 'i', 'u', 'f', 'c', 'U', 'S'
  char order = '|';      ///< byte order: '<' little, '>' big, '=' native, '|' none
  int64_t item = 0;      ///< the number after the kind: bytes, or characters of U
  bool fortran = false;  ///< column-major
  Sizes shape;
  size_t data_offset = 0;
};

/// Errors: bad_file, limit_exceeded, not_supported.
Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes, const std::string& place, const ArrayLimits& limits);
/// The header, padded so that the data is 64-byte aligned.
std::string npy_header_text(const std::string& descr, const Sizes& shape);

}  // namespace tenon::files
