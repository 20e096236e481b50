// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/tensor.h"

namespace tenon::files {

/// Limits of readers of arrays; an error of a larger array names the limit.
struct ArrayLimits {
  int64_t tensor_bytes = int64_t{1} << 36;  ///< of an array
  size_t header_bytes = size_t{1} << 20;    ///< of the header of an .npy file
  int rank = 64;                            ///< axes
};

/// Reads NumPy's .npy format, versions 1 to 3: bool, integers, f16 to f64, complex and strings (U, S), either byte order, C or
/// Fortran order. The tensor refers to `bytes`, owned by `keeper`, where they are aligned, row-major and little-endian; without a keeper,
/// or otherwise, it has a copy. Errors: bad_file, limit_exceeded, not_supported (object arrays, structures, dates, long double),
/// out_of_memory.
Result<Tensor> read_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, const std::string& place,
                        const ArrayLimits& limits = {});
Result<Tensor> read_npy(const std::filesystem::path& path, const ArrayLimits& limits = {});

/// A tensor in host memory as the bytes of an .npy file. NumPy has no bf16, 8-bit and 4-bit floats (written as f32) and no 4- and 2-bit
/// integers (as i8, u8).
std::string npy_bytes(const Tensor& tensor);
/// Errors: write_failed; not_supported for a tensor outside of host memory.
Result<void> write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace tenon::files
