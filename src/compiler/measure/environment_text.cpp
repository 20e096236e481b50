// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/environment_text.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace tenon::compiler {

namespace {

/// Identifies this build: the time of the last change of the binary that has this code.
std::string build_text() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&build_text), &info) == 0 || !info.dli_fname) return {};
  std::error_code error;
  const auto written = std::filesystem::last_write_time(info.dli_fname, error);
  return error ? std::string() : std::to_string(written.time_since_epoch().count());
}

}  // namespace

std::string cpu_text() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line;
  return {};
}

std::string environment_text() { return fmt::format("{}\n{}\n", build_text(), cpu_text()); }

std::string library_version_text(const backend::Backend& backend) {
  const auto library = backend.library();
  return library && *library ? fmt::format("{} {}\n", backend.name(), (*library)->version) : std::string();
}

}  // namespace tenon::compiler
