// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "files/mapped_file.h"

namespace tenon::files {

/// A piece of a mapped file; `keeper` keeps the mapping alive.
struct MappedSlice {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keeper;
};

/// The files below one folder that a model may point into. Each is mapped once. Not thread-safe.
class ExternalData {
 public:
  /// `chosen`: the user named this folder; then files with several hard links are taken too (installers of Python packages
  /// make them), which a model's own folder could have been made to hold by somebody else.
  explicit ExternalData(std::filesystem::path folder, bool chosen = false) : folder_(std::move(folder)), chosen_(chosen) {}

  /// Bytes [offset, offset + length) of the file `location`, a relative path; no length: up to its end.
  /// Errors: file_unsafe (absolute, "..", through a link, not a regular file, several hard links), file_missing,
  /// bad_file (the range lies outside the file).
  Result<MappedSlice> slice(std::string_view location, uint64_t offset, std::optional<uint64_t> length);

 private:
  Result<std::shared_ptr<const MappedFile>> file(const std::string& location);
  std::filesystem::path folder_;
  bool chosen_;
  std::map<std::string, std::shared_ptr<const MappedFile>> open_;
};

}  // namespace tenon::files
