// SPDX-License-Identifier: Apache-2.0
#include "files/anonymous_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/result.h"

namespace tenon::files {

namespace {

const char* temporary_folder() {
  const char* given = std::getenv("TMPDIR");
  return given && *given ? given : "/var/tmp";  // /tmp is memory on many systems
}

/// Whether the process may write files of that size (RLIMIT_FSIZE): a write beyond the limit ends the process.
bool is_within_file_limit(size_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size <= limit.rlim_cur;
}

bool is_on_disk(int file) {
  struct statfs info{};
  return fstatfs(file, &info) == 0 && info.f_type != TMPFS_MAGIC && info.f_type != RAMFS_MAGIC;
}

/// Writes in small pieces: the page cache stores a large write in large pages, and maps the whole large page where one byte of it is read.
bool write_all(int file, std::span<const std::byte> bytes) {
  constexpr size_t kWriteBytes = 64 << 10;
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::pwrite(file, bytes.data() + at, std::min(kWriteBytes, bytes.size() - at), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += static_cast<size_t>(written);
  }
  return true;
}

bool write_and_map(int file, std::span<std::byte> pages, std::span<const std::byte> bytes) {
  // fallocate() reserves the space, so that a disk that is full later loses no byte; file systems without it are not used.
  return is_on_disk(file) && is_within_file_limit(bytes.size()) && ::fallocate(file, 0, 0, static_cast<off_t>(bytes.size())) == 0 &&
         write_all(file, bytes) && mmap(pages.data(), pages.size(), PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) != MAP_FAILED;
}

}  // namespace

bool map_anonymous_file(std::span<std::byte> pages, std::span<const std::byte> bytes) {
  TENON_ASSERT(pages.size() == bytes.size() && reinterpret_cast<uintptr_t>(pages.data()) % static_cast<uintptr_t>(getpagesize()) == 0);
  const int file = bytes.empty() ? -1 : ::open(temporary_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool mapped = write_and_map(file, pages, bytes);
  ::close(file);
  return mapped;
}

}  // namespace tenon::files
