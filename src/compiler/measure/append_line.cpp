// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/append_line.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenon::compiler {

namespace {

Error cannot_write(const std::filesystem::path& path) {
  return fail(Code::write_failed, path.string(), "measured times cannot be stored")
      .expected("a file that may be written")
      .found(std::strerror(errno))
      .advice("set XDG_CACHE_HOME to a folder that may be written");
}

}  // namespace

Result<void> append_line(const std::filesystem::path& path, const std::string& line) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return cannot_write(path);
  const std::string whole = line + "\n";
  const bool written =
      ::write(file, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size());  // one call: lines of several processes do not mix
  ::close(file);
  return written ? Result<void>() : cannot_write(path);
}

}  // namespace tenon::compiler
