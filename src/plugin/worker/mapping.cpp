// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "plugin/worker/control_block.h"

namespace tenon::plugin::worker {

namespace {

Error no_memory(uint64_t bytes) {
  return fail(Code::out_of_memory, "isolated plugins", "no memory that can be shared with a plugin's process")
      .expected(std::to_string(bytes) + " bytes")
      .found(std::strerror(errno))
      .advice("give smaller inputs, or run without --isolate-plugins");
}

/// Rounds up to whole pages, at least one. Unit: bytes.
uint64_t page_bytes(uint64_t bytes) { return std::max((bytes + kPage - 1) / kPage, uint64_t{1}) * kPage; }

}  // namespace

Result<Mapping> Mapping::of(int file, uint64_t offset, uint64_t bytes, bool writable) {
  void* const at = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, static_cast<off_t>(offset));
  if (at == MAP_FAILED) return no_memory(bytes);
  Mapping out;
  out.data_ = static_cast<std::byte*>(at);
  out.bytes_ = bytes;
  return out;
}

Mapping::~Mapping() {
  if (data_) munmap(data_, bytes_);
}

void Mapping::guard_page(uint64_t offset) const { mprotect(data_ + offset, kPage, PROT_NONE); }

SharedFile::SharedFile(int descriptor, uint64_t first) : descriptor_(descriptor), owner_(getpid()), free_{{first, kFileBytes - first}} {}

SharedFile::~SharedFile() { close(descriptor_); }

Result<std::shared_ptr<SharedFile>> SharedFile::make(uint64_t first) {
  const int descriptor = memfd_create("tenon-plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return no_memory(kFileBytes);
  std::shared_ptr<SharedFile> out(new SharedFile(descriptor, first));
  // Seals: a worker cannot shrink the file, which would end the host at its next access.
  if (ftruncate(descriptor, kFileBytes) != 0 || fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return no_memory(kFileBytes);
  return out;
}

Result<SharedFile::Part> SharedFile::part(const std::shared_ptr<SharedFile>& file, uint64_t bytes) {
  const uint64_t size = page_bytes(bytes);
  Part out;
  {
    const std::lock_guard held(file->lock_);
    const auto found = std::ranges::find_if(file->free_, [&](const auto& range) { return range.second >= size; });
    if (found == file->free_.end()) return no_memory(bytes);
    const auto [offset, free_bytes] = *found;
    file->free_.erase(found);
    if (free_bytes > size) file->free_.emplace(offset + size, free_bytes - size);
    out.offset_ = offset;
  }
  auto mapping = Mapping::of(file->descriptor_, out.offset_, size);
  if (!mapping) {
    file->give_back(out.offset_, size);
    return std::unexpected(std::move(mapping).error());
  }
  out.file_ = file;
  out.mapping_ = *std::move(mapping);
  return out;
}

void SharedFile::give_back(uint64_t offset, uint64_t bytes) {
  if (owner_ != getpid()) return;
  fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  const std::lock_guard held(lock_);
  // Joins the range with free ranges next to it.
  auto at = free_.emplace(offset, bytes).first;
  if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at == free_.begin()) return;
  if (const auto before = std::prev(at); before->first + before->second == at->first) {
    before->second += at->second;
    free_.erase(at);
  }
}

SharedFile::Part& SharedFile::Part::operator=(Part&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(mapping_, other.mapping_);
  std::swap(offset_, other.offset_);
  return *this;
}

SharedFile::Part::~Part() {
  if (file_) file_->give_back(offset_, mapping_.bytes());
}

}  // namespace tenon::plugin::worker
