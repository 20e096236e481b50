// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "runtime/libraries.h"

namespace tenon::runtime {

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Folders DIR/python3*/NAME that are there, the newest Python first.
void add_packages(const fs::path& folder, std::string_view version, std::string_view name, std::vector<fs::path>& out) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string python = entry.path().filename().string();
    if (!python.starts_with("python3") || (!version.empty() && python != version && python != "python3")) continue;
    if (fs::is_directory(entry.path() / name, ignored)) found.push_back(entry.path() / name);
  }
  std::ranges::sort(found, std::greater(), [](const fs::path& p) { return std::pair(p.string().size(), p); });  // 3.9 before 3.11
  out.insert(out.end(), found.begin(), found.end());
}

/// version: "python3.11"; empty: any.
std::vector<fs::path> packages_below(const fs::path& prefix, std::string_view version) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const char* library : {"lib", "lib64"})
    if (!fs::is_symlink(prefix / library, ignored)) add_packages(prefix / library, version, "site-packages", out);
  add_packages(prefix / "local/lib", version, "dist-packages", out);  // of Debian
  add_packages(prefix / "lib", version, "dist-packages", out);
  return out;
}

std::optional<fs::path> python_in_path() {
  const std::string path = variable("PATH");
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const fs::path python = fs::path(path.substr(begin, end - begin)) / "python3";
    if (end > begin && access(python.c_str(), X_OK) == 0) return python;
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::optional<fs::path> active_python() {
  if (const std::string environment = variable("VIRTUAL_ENV"); !environment.empty()) {
    const fs::path python = fs::path(environment) / "bin/python3";
    return access(python.c_str(), X_OK) == 0 ? std::optional(python) : std::nullopt;
  }
  return python_in_path();
}

std::vector<fs::path> active_packages() {
  if (const std::string environment = variable("VIRTUAL_ENV"); !environment.empty()) return packages_below(environment, "");
  const std::optional<fs::path> python = python_in_path();
  if (!python) return {};
  const fs::path prefix = python->parent_path().parent_path();
  std::error_code ignored;
  if (fs::exists(prefix / "pyvenv.cfg", ignored)) return packages_below(prefix, "");
  const fs::path real = fs::weakly_canonical(*python, ignored);
  const std::string version = real.filename().string();
  const std::string_view known = version.starts_with("python3.") ? std::string_view(version) : "";
  std::vector<fs::path> out;
  if (const std::string home = variable("HOME"); !home.empty()) add_packages(fs::path(home) / ".local/lib", known, "site-packages", out);
  for (fs::path& p : packages_below(real.parent_path().parent_path(), known)) out.push_back(std::move(p));
  return out;
}

}  // namespace tenon::runtime
