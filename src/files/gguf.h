// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/blocks/block_format.h"
#include "base/result.h"
#include "base/tensor.h"

namespace tenon::files {

/// A value of a GGUF file's metadata; integers of any width are i64 or, above its range, u64.
using GgufValue =
    std::variant<int64_t, uint64_t, double, bool, std::string, std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;

struct GgufTensor {
  std::string name;
  Sizes shape;                          ///< row-major: the format's own order reversed
  const BlockFormat* format = nullptr;  ///< blocks run along the last axis
  std::span<const std::byte> bytes = {};
};

struct Gguf {
  uint32_t version = 0;
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<GgufTensor> tensors;     ///< in the order of the file
  std::shared_ptr<const void> keeper;  ///< of the tensors' bytes

  /// Null where there is no such key.
  const GgufValue* find(std::string_view key) const;
};

/// Reads the GGUF format, versions 2 and 3, little-endian (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). Tensors stay in
/// `bytes`, which `keeper` keeps. Errors: bad_file; not_supported (big-endian, another version, nested arrays, unknown formats).
/// Cost: linear in the header; memory at most eight times the metadata.
Result<Gguf> read_gguf(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, const std::string& place);
/// Maps the file. Errors also: file_missing.
Result<Gguf> read_gguf(const std::filesystem::path& path);
/// Whether the file begins as one.
bool is_gguf(const std::filesystem::path& path);

}  // namespace tenon::files
