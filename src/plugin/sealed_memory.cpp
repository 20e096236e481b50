// SPDX-License-Identifier: Apache-2.0
#include "plugin/sealed_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenon::plugin {

namespace {

constexpr size_t kLongestName = 200;  ///< of memory; a file's may be longer than the system takes

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace

Result<SealedMemory> SealedMemory::of(std::string name, std::string_view bytes) {
  SealedMemory out(std::move(name), -1);
  const int descriptor = out.descriptor_ = memfd_create(out.name_.substr(0, kLongestName).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const bool is_whole = descriptor >= 0 && write_all(descriptor, bytes);
  if (is_whole && fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0) return out;
  return fail(Code::device_failed, out.name_, "no memory for a library inside the engine")
      .expected(fmt::format("{} bytes by memfd_create", bytes.size()))
      .found(std::strerror(errno))
      .advice("name the library's file with --plugin");
}

SealedMemory::~SealedMemory() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::filesystem::path SealedMemory::path_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

}  // namespace tenon::plugin
