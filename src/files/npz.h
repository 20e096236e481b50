// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "files/npy.h"

namespace tenon::files {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Reads NumPy's .npz: a zip archive of .npy files, stored or deflated. Names come without ".npy"; other files are skipped.
/// limits.tensor_bytes bounds the sum of all unpacked sizes. Errors: those of read_npy; bad_file, limit_exceeded.
Result<NamedTensors> read_npz(std::span<const std::byte> bytes, const std::string& place, const ArrayLimits& limits = {});
Result<NamedTensors> read_npz(const std::filesystem::path& path, const ArrayLimits& limits = {});
/// Writes an archive of uncompressed .npy files. Equal tensors give equal bytes. Errors: write_failed.
Result<void> write_npz(const std::filesystem::path& path, const NamedTensors& tensors);

}  // namespace tenon::files
