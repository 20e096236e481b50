// SPDX-License-Identifier: Apache-2.0
#include "import/file_access.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace tenon::import {
namespace {

struct Mapping {
  void* at;
  size_t size;
  ~Mapping() { if (size) munmap(at, size); }
};

Result<FileBytes> map_descriptor(int fd, const std::string& place) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return fail(Code::file_unsafe, place, "not a regular file");
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* at = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
  close(fd);
  if (at == MAP_FAILED) return fail(Code::file_missing, place, std::string("cannot be mapped: ") + std::strerror(errno));
  std::shared_ptr<const void> keeper(new Mapping{at, size}, [](const void* p) { delete static_cast<const Mapping*>(p); });
  return FileBytes{keeper, {static_cast<const std::byte*>(at), size}};
}

}  // namespace

Result<FileBytes> map_file(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(Code::file_missing, path.string(), std::string("cannot be opened: ") + std::strerror(errno));
  return map_descriptor(fd, path.string());
}

Result<FileBytes> map_external(const std::filesystem::path& directory, std::string_view location) {
  const std::filesystem::path relative{std::string(location)};
  for (const auto& part : relative)
    if (part == ".." || relative.is_absolute()) return fail(Code::file_unsafe, std::string(location), "external data lies outside the model's folder");
  const int fd = open((directory / relative).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return fail(errno == ELOOP ? Code::file_unsafe : Code::file_missing, std::string(location), std::string("cannot be opened: ") + std::strerror(errno));
  return map_descriptor(fd, std::string(location));
}

Result<void> write_file(const std::filesystem::path& path, const std::function<Result<void>(const ByteSink&)>& fill) {
  const std::string part = path.string() + ".part";
  std::ofstream out(part, std::ios::binary);
  auto done = fill([&](std::string_view bytes) -> Result<void> {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return {};
  });
  out.close();
  std::error_code error;
  if (done && out.good()) std::filesystem::rename(part, path, error);
  if (done && out.good() && !error) return {};
  std::filesystem::remove(part, error);
  if (!done) return done;
  return fail(Code::write_failed, path.string(), "cannot be written");
}

}  // namespace tenon::import
