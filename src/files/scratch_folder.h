// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <utility>

#include "base/result.h"

namespace tenon::files {

/// A temporary folder below $TMPDIR, removed with all its files on destruction.
class ScratchFolder {
 public:
  /// Errors: write_failed.
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~ScratchFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace tenon::files
