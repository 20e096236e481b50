// SPDX-License-Identifier: Apache-2.0
#include "files/external_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace tenon::files {
namespace {

constexpr int kReadOnly = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;

/// The components of a relative path without ".."; nullopt for any other path.
std::optional<std::vector<std::string>> relative_components(std::string_view location) {
  if (location.empty() || location.size() > 4096 || location.front() == '/' || location.find('\0') != location.npos) return std::nullopt;
  std::vector<std::string> parts;
  while (!location.empty()) {
    const size_t slash = std::min(location.find('/'), location.size());
    const std::string_view part = location.substr(0, slash);
    location.remove_prefix(std::min(slash + 1, location.size()));
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  if (parts.empty()) return std::nullopt;
  return parts;
}

/// Opens a file component by component, none of which may be a link: for kernels before 5.6 and for sandboxes that refuse openat2.
int open_by_components(int folder, const std::vector<std::string>& parts) {
  int directory = dup(folder);
  for (size_t i = 0; i < parts.size() && directory >= 0; ++i) {
    const bool last = i + 1 == parts.size();
    const int next = openat(directory, parts[i].c_str(), last ? kReadOnly : O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int reason = errno;
    close(directory);
    // A link in the middle is refused as "not a folder"; it gets its own error here.
    errno = reason == ENOTDIR && !last ? ELOOP : reason;
    directory = next;
  }
  return directory;
}

/// Opens a file below `folder` without following links. Returns -1 with errno on failure.
int open_below(int folder, const std::vector<std::string>& parts) {
  std::string path;
  for (const std::string& part : parts) path += (path.empty() ? "" : "/") + part;
  open_how how{};
  how.flags = static_cast<uint64_t>(kReadOnly);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const auto descriptor = static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how)));
  if (descriptor >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL && errno != E2BIG)) return descriptor;
  return open_by_components(folder, parts);
}

Error unsafe_location(const std::string& location, const char* what, const std::string& found) {
  return fail(Code::file_unsafe, location, what)
      .expected("a regular file below the folder, reached by a relative path without links")
      .found(found)
      .advice("put the data beside the model, or name its folder with --external-data DIR");
}

Error cannot_open(const std::string& location, int reason) {
  // ELOOP: a symbolic link; EXDEV: the path leaves the folder (RESOLVE_BENEATH). A mount below the folder is neither.
  if (reason == ELOOP || reason == EXDEV) return unsafe_location(location, "external data is reached through a link", "a symbolic link");
  return fail(Code::file_missing, location, "cannot open external data")
      .expected("a file that can be read")
      .found(std::strerror(reason))
      .advice("put the data beside the model, or name its folder with --external-data DIR");
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> ExternalData::file(const std::string& location) {
  if (const auto found = mapped_files_.find(location); found != mapped_files_.end()) return found->second;
  const auto parts = relative_components(location);
  if (!parts) return unsafe_location(location, "external data lies outside the model's folder", "'" + location + "'");
  const int folder = ::open(folder_.empty() ? "." : folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return fail(Code::file_missing, folder_.string(), "cannot open the folder of the external data")
        .expected("a folder that can be read")
        .found(std::strerror(errno));
  const int descriptor = open_below(folder, *parts);
  const int reason = errno;
  close(folder);
  if (descriptor < 0) return cannot_open(location, reason);
  struct stat info{};
  const bool is_regular = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  if (!is_regular || (info.st_nlink > 1 && !is_named_by_user_)) {
    close(descriptor);
    return is_regular ? unsafe_location(location, "external data has several hard links", "a file with another name somewhere else")
                      : unsafe_location(location, "external data is not a regular file", "a folder, a device or a pipe");
  }
  auto mapped = TRY(MappedFile::of_descriptor(descriptor, location));
  mapped_files_.emplace(location, mapped);
  return mapped;
}

Result<MappedSlice> ExternalData::slice(std::string_view location, uint64_t offset, std::optional<uint64_t> length) {
  const auto mapped = TRY(file(std::string(location)));
  const uint64_t size = mapped->size();
  if (offset > size || (length && *length > size - offset)) {
    return fail(Code::bad_file, std::string(location), "external data lies outside its file")
        .expected(fmt::format("offset {} and length {} within the file", offset, length ? std::to_string(*length) : "to the end"))
        .found(fmt::format("{} bytes", size));
  }
  return MappedSlice{mapped->bytes().subspan(offset, length.value_or(size - offset)), mapped};
}

}  // namespace tenon::files
