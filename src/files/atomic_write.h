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
/// before is replaced; its pages in the page cache are released in a thread meanwhile. All errors: write_failed, with the system's reason.
class AtomicFile {
 public:
  /// Opens a new file that commit() will put at `path`.
  static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept
      : path_(std::move(other.path_)),
        temporary_name_(std::move(other.temporary_name_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_(other.size_),
        release_thread_(std::move(other.release_thread_)) {}
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Writes at an offset; the file grows as needed.
  Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes);
  /// Writes after the last append().
  Result<void> append(std::span<const std::byte> bytes);
  Result<void> append(std::string_view text) { return append(std::as_bytes(std::span(text))); }
  /// Syncs the file, gives it its name, syncs the folder. To be called once.
  Result<void> commit();

 private:
  AtomicFile(std::filesystem::path path, std::string temporary, int descriptor)
      : path_(std::move(path)), temporary_name_(std::move(temporary)), descriptor_(descriptor) {}
  static Result<AtomicFile> open_new(const std::filesystem::path& path);
  Error write_failed(const char* step) const;
  Result<void> link_to_path();

  std::filesystem::path path_;
  std::string temporary_name_;  ///< empty: the file has no name yet (O_TMPFILE)
  int descriptor_;
  uint64_t size_ = 0;           ///< end of what append() has written
  std::thread release_thread_;  ///< releases the page cache of the file that is replaced
};

/// Writes a whole file in one call.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tenon::files
