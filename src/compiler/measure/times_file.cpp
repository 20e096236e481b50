// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/times_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

namespace tenon::compiler {

namespace {

constexpr size_t kDigits = 32;

Error cannot_write(const std::filesystem::path& path) {
  return fail(Code::write_failed, path.string(), "measured times cannot be kept")
      .expected("a file that may be written")
      .found(std::strerror(errno))
      .advice("set XDG_CACHE_HOME to a folder that may be written");
}

}  // namespace

TimesFile::TimesFile(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::ifstream in(path_);
  std::string hash;
  for (std::string line; std::getline(in, line);) {
    if (line.size() <= kDigits + 1 || line[kDigits] != ' ') continue;
    char* end = nullptr;
    const double ns = std::strtod(line.c_str() + kDigits + 1, &end);
    if (*end == 0 && std::isfinite(ns) && ns > 0) times_[line.substr(0, kDigits)] = ns;
  }
}

std::optional<double> TimesFile::find(const Hash128& of) const {
  const auto found = times_.find(of.text());
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

Result<void> TimesFile::add(const Hash128& of, double ns) {
  times_[of.text()] = ns;
  if (path_.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return cannot_write(path_);
  const std::string line = fmt::format("{} {:.1f}\n", of.text(), ns);
  const bool written = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());  // at once: no line in another
  ::close(file);
  return written ? Result<void>() : cannot_write(path_);
}

}  // namespace tenon::compiler
