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

/// A range of bytes of a mapped file; `keeper` owns the mapping.
struct MappedSlice {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keeper;
};

/// Maps files below one folder to which a model refers as external data, each once. Not thread-safe.
class ExternalData {
 public:
  /// `is_named_by_user`: the user named this folder on the command line; then files with several hard links are allowed too (installers of
  /// Python packages make them). In the model's own folder such a link may have been placed by an attacker.
  explicit ExternalData(std::filesystem::path folder, bool is_named_by_user = false)
      : folder_(std::move(folder)), is_named_by_user_(is_named_by_user) {}

  /// Bytes [offset, offset + length) of the file `location`, a relative path; no length: up to its end.
  /// Errors: file_unsafe (absolute, "..", through a link, not a regular file, several hard links), file_missing,
  /// bad_file (the range lies outside the file).
  Result<MappedSlice> slice(std::string_view location, uint64_t offset, std::optional<uint64_t> length);

 private:
  Result<std::shared_ptr<const MappedFile>> file(const std::string& location);
  std::filesystem::path folder_;
  bool is_named_by_user_;
  std::map<std::string, std::shared_ptr<const MappedFile>> mapped_files_;
};

}  // namespace tenon::files
