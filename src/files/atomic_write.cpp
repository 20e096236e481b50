// SPDX-License-Identifier: Apache-2.0
#include "files/atomic_write.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace tenon::files {
namespace {

Error write_error(const std::filesystem::path& path, const char* step, int reason) {
  return fail(Code::write_failed, path.string(), std::string("cannot ") + step)
      .expected("a folder that may be written, with room for the file")
      .found(std::strerror(reason))
      .advice(reason == ENOSPC ? "free some space on the disk" : "check that the folder exists and may be written");
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

void sync_folder(const std::filesystem::path& path) {
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  (void)::fsync(folder);  // some file systems cannot; the rename holds anyway
  ::close(folder);
}

constexpr int kAttempts = 100;

std::string temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.string() + ".part-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
}

/// Drops the page cache of the file that will be replaced, in a thread: otherwise the rename waits for that, and the new file gets other
/// pages, which a virtual machine may have to allocate. The file is opened before the thread starts: later the new file may have its name.
std::thread release_page_cache(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  try {
    return std::thread([file] {
      (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
      ::close(file);
    });
  } catch (const std::system_error&) {  // the system has no thread left: the rename drops the pages
    ::close(file);
    return {};
  }
}

std::string name_in_proc(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

}  // namespace

Error AtomicFile::write_failed(const char* step) const { return write_error(path_, step, errno); }

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path) {
  struct stat info{};  // size 0 where there is no file
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return write_error(path, "create the file", errno);  // a name that is too long, a loop of links
  if (exists && !S_ISREG(info.st_mode)) {
    return fail(Code::write_failed, path.string(), "there is something else than a file under this name")
        .expected("a regular file, or nothing")
        .found(S_ISDIR(info.st_mode) ? "a folder" : "a device, a pipe or a socket")
        .advice("choose another name");
  }
  AtomicFile out = TRY(open_new(path));
  constexpr off_t kMinBytesForThread = 16 << 20;
  if (info.st_size >= kMinBytesForThread) out.release_thread_ = release_page_cache(path);
  return out;
}

/// Opens a file without a name, or with a temporary one where the file system has no files without names.
Result<AtomicFile> AtomicFile::open_new(const std::filesystem::path& path) {
  const int unnamed = ::open(folder_of(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (unnamed >= 0 && ::access(name_in_proc(unnamed).c_str(), F_OK) == 0) return AtomicFile(path, "", unnamed);
  if (unnamed >= 0) ::close(unnamed);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string temporary = temporary_name(path);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor >= 0) return AtomicFile(path, std::move(temporary), descriptor);
    if (errno != EEXIST) break;
  }
  return write_error(path, "create the file", errno);
}

AtomicFile::~AtomicFile() {
  if (release_thread_.joinable()) release_thread_.join();
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_name_.empty()) ::unlink(temporary_name_.c_str());
}

Result<void> AtomicFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  const auto first = static_cast<off_t>(offset);
  const auto size = static_cast<off_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return write_failed("write");
    if (written == 0) return write_error(path_, "write", ENOSPC);
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  // Starts writeback now; otherwise the disk is idle until commit(). Where the file system cannot, commit() waits for the whole write.
  constexpr off_t kMinBytesForWriteback = 1 << 20;
  if (size >= kMinBytesForWriteback) (void)::sync_file_range(descriptor_, first, size, SYNC_FILE_RANGE_WRITE);
  return {};
}

Result<void> AtomicFile::append(std::span<const std::byte> bytes) {
  TRY(write_at(size_, bytes));
  size_ += bytes.size();
  return {};
}

/// Gives a file without a name a temporary one in the folder of its final name. Where that name is free it is taken at once, and
/// temporary_name_ stays empty.
Result<void> AtomicFile::link_to_path() {
  const std::string unnamed = name_in_proc(descriptor_);
  if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
  for (int attempt = 0; attempt < kAttempts && errno == EEXIST; ++attempt) {
    std::string temporary = temporary_name(path_);
    if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0) continue;
    temporary_name_ = std::move(temporary);
    return {};
  }
  return write_failed("give the file its name");
}

Result<void> AtomicFile::commit() {
  TENON_ASSERT(descriptor_ >= 0);
  if (::fsync(descriptor_) != 0) return write_failed("write the file to disk");
  if (temporary_name_.empty()) TRY(link_to_path());
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!closed || (!temporary_name_.empty() && ::rename(temporary_name_.c_str(), path_.c_str()) != 0)) {
    const Error error = write_failed("give the file its name");
    if (!temporary_name_.empty()) ::unlink(temporary_name_.c_str());
    return std::unexpected(error);
  }
  sync_folder(path_);
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file = TRY(AtomicFile::create(path));
  TRY(file.append(bytes));
  return file.commit();
}

}  // namespace tenon::files
