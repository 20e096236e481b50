// SPDX-License-Identifier: Apache-2.0
#include "files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

namespace tenon::files {

namespace {

/// All files that are mapped: size by first byte.
struct MappedRanges {
  std::mutex lock;
  std::map<const std::byte*, size_t> files;
};
MappedRanges& mapped_ranges() {
  static MappedRanges& all = *new MappedRanges;  // outlives every static that holds a file
  return all;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return fail(Code::file_missing, path.string(), "cannot open the file").expected("a file that can be read").found(std::strerror(errno));
  return of_descriptor(descriptor, path.string());
}

Result<std::shared_ptr<const MappedFile>> MappedFile::of_descriptor(int descriptor, const std::string& place) {
  struct stat info{};
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return fail(Code::bad_file, place, "not a regular file")
        .expected("a file")
        .found(S_ISDIR(info.st_mode) ? "a folder" : "a device, a pipe or a socket")
        .advice("give the path of a file");
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* memory = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int reason = errno;
  ::close(descriptor);
  if (memory == MAP_FAILED)
    return fail(Code::out_of_memory, place, "cannot map the file")
        .expected(std::to_string(size) + " bytes of address space")
        .found(std::strerror(reason));
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte*>(memory), size));
}

MappedFile::MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {
  const std::scoped_lock guard(mapped_ranges().lock);
  if (size_ != 0) mapped_ranges().files.emplace(data_, size_);
}

MappedFile::~MappedFile() {
  if (size_ == 0) return;
  const std::scoped_lock guard(mapped_ranges().lock);
  mapped_ranges().files.erase(data_);
  munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::release_pages(std::span<const std::byte> bytes) {
  const std::scoped_lock guard(mapped_ranges().lock);
  const auto after = mapped_ranges().files.upper_bound(bytes.data());
  if (bytes.empty() || after == mapped_ranges().files.begin()) return;
  const auto& [first, size] = *std::prev(after);
  const auto begin = static_cast<size_t>(bytes.data() - first);
  if (begin >= size) return;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t from = (begin + page - 1) / page * page, to = std::min(begin + bytes.size(), size) / page * page;
  if (from < to) madvise(const_cast<std::byte*>(first) + from, to - from, MADV_DONTNEED);
}

}  // namespace tenon::files
