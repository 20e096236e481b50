// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"

namespace tenon::files {

/// The contents of one .safetensors file.
struct SafeTensors {
  struct Entry {
    std::string name;
    Tensor tensor;        ///< a view of the file where its bytes are aligned, else a copy
    uint64_t offset = 0;  ///< of its bytes, from the start of the file
  };
  std::vector<Entry> entries;  ///< in the order of their offsets
  std::map<std::string, std::string> metadata;

  /// The tensor of that name; nullptr where there is none. Cost: linear.
  const Tensor* find(std::string_view name) const;
};

/// Reads the safetensors format: 8 bytes of length, a JSON header, the data without holes or overlaps.
/// `keeper` null: tensors are copied. Errors: bad_file, limit_exceeded (header over 100 MB), not_supported (unknown dtype).
Result<SafeTensors> read_safetensors(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, const std::string& place);
Result<SafeTensors> read_safetensors(const std::filesystem::path& path);

}  // namespace tenon::files
