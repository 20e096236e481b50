// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/result.h"

namespace tenon::files {

/// A file that appears whole or not at all: it has no name until commit() syncs it and gives it one, so that nothing is left behind
/// without a commit, not even by a process that is killed. Where the file system has no files without names (some network file
/// systems), it is written beside its final name and renamed; then only a process that ends by itself leaves nothing. A file that was there
/// before is replaced; what the system keeps of it in memory is given back meanwhile. All errors: write_failed, with the system's reason.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept
      : path_(std::move(other.path_)),
        temporary_(std::move(other.temporary_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        end_(other.end_),
        giving_back_(std::move(other.giving_back_)) {}
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes);
  /// After the last append.
  Result<void> append(std::span<const std::byte> bytes);
  Result<void> append(std::string_view text) { return append(std::as_bytes(std::span(text))); }
  /// Syncs, renames, syncs the folder. Once.
  Result<void> commit();

 private:
  AtomicFile(std::filesystem::path path, std::string temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}
  static Result<AtomicFile> open_new(const std::filesystem::path& path);
  Error failed(const char* step) const;
  Result<void> give_name();

  std::filesystem::path path_;
  std::string temporary_;  ///< empty: the file has no name yet
  int descriptor_;
  uint64_t end_ = 0;
  std::thread giving_back_;  ///< memory of the file that is replaced
};

/// The whole of a file in one call.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tenon::files
