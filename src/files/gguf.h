// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/blocks/block_format.h"
#include "base/result.h"
#include "base/tensor.h"
#include "files/gguf_value.h"

namespace tenon::files {

/// A checkpoint in the GGUF format: metadata and tensors of blocks. Names, values and bytes point into the mapped files.
/// Source: ggml's docs/gguf.md.
struct Gguf {
  /// A key and its value in the metadata.
  struct Entry {
    std::string_view key;
    GgufValue value;
  };
  struct Tensor {
    std::string_view name;
    Sizes shape;                          ///< row-major: ggml's sizes in reverse
    const BlockFormat* format = nullptr;  ///< how elements are stored
    std::span<const std::byte> bytes;
    uint64_t offset = 0;  ///< of the bytes, from the start of its file
    uint32_t part = 0;    ///< index in `files`: the file of a split checkpoint that has it
    int64_t count() const;
  };
  uint32_t version = 0;
  uint64_t alignment = 32;                           ///< of tensors in the file, in bytes
  std::vector<Entry> metadata;                       ///< in file order; of a split checkpoint the first part's
  std::vector<Tensor> tensors;                       ///< in file order
  std::vector<std::string> files;                    ///< names of the files, one for each part
  std::vector<std::shared_ptr<const void>> keepers;  ///< owners of the bytes

  /// The value of a key, and the tensor of a name; nullptr where there is none. Cost: constant.
  const GgufValue* find(std::string_view key) const;
  const Tensor* find_tensor(std::string_view name) const;
  /// Of `general.architecture`; "" where the file has none.
  std::string_view architecture() const;

  std::unordered_map<std::string_view, size_t> entry_index,
      tensor_index;  ///< indices into `metadata` and `tensors` by name; read_gguf() fills them
};

/// Whether the file begins with the bytes "GGUF"; false where it cannot be read.
bool is_gguf(const std::filesystem::path& path);

/// Reads one file of versions 2 and 3, little-endian; `split.*` is not followed. No memory is taken beyond a multiple of the file's size.
/// Limits: keys and tensor names of 65,535 bytes, 4 sizes a tensor, arrays nested 8 deep.
/// Errors: bad_file, limit_exceeded, size_overflow, not_supported (other versions, big-endian files, block formats).
Result<Gguf> read_gguf(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, const std::string& file);
/// The same of a file, with all its parts where it is the first of a split checkpoint (NAME-00001-of-00003.gguf). Also file_missing, which
/// names every part that is not beside the first.
Result<Gguf> read_gguf(const std::filesystem::path& path);

}  // namespace tenon::files
