// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"

namespace tenon::import {

/// Bytes of a mapped file; `keeper` keeps them.
struct FileBytes {
  std::shared_ptr<const void> keeper;
  std::span<const std::byte> bytes;
};

/// Errors: file_missing.
Result<FileBytes> map_file(const std::filesystem::path& path);
/// A regular file below `directory`, reached without links. Errors: file_missing, file_unsafe.
Result<FileBytes> map_external(const std::filesystem::path& directory, std::string_view location);

using ByteSink = std::function<Result<void>(std::string_view)>;
/// Writes a file that appears whole or not at all. Errors: write_failed, and what `fill` gives.
Result<void> write_file(const std::filesystem::path& path, const std::function<Result<void>(const ByteSink&)>& fill);

}  // namespace tenon::import
