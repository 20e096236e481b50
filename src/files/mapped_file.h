// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace tenon::files {

/// A regular file, mapped read-only. Shared: what points into it holds the pointer.
class MappedFile {
 public:
  /// Errors: file_missing (with the system's reason), bad_file (not a regular file).
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  /// The same of an open descriptor, which is closed in any case.
  static Result<std::shared_ptr<const MappedFile>> of_descriptor(int descriptor, const std::string& place);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  size_t size() const { return size_; }

  /// Gives the memory of these bytes back, where they lie in a file that is mapped; who reads them again has the system read the file.
  /// Anything else stays as it is.
  static void release_pages(std::span<const std::byte> bytes);

 private:
  MappedFile(const std::byte* data, size_t size);
  const std::byte* data_;
  size_t size_;
};

}  // namespace tenon::files
