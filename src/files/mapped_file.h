// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace tenon::files {

/// A regular file, mapped read-only. Tensors that point into it share its ownership.
class MappedFile {
 public:
  /// Errors: file_missing (with the system's reason), bad_file (not a regular file).
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  /// Maps the file of an open descriptor, which is closed in any case. place: names the file in errors.
  static Result<std::shared_ptr<const MappedFile>> of_descriptor(int descriptor, const std::string& place);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  size_t size() const { return size_; }

  /// Releases the memory pages of bytes in a mapped file; a later access reads the file again. No effect on other memory.
  static void release_pages(std::span<const std::byte> bytes);

 private:
  MappedFile(const std::byte* data, size_t size);
  const std::byte* data_;
  size_t size_;
};

}  // namespace tenon::files
