// SPDX-License-Identifier: Apache-2.0
#include "runtime/libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <ranges>

namespace tenon::runtime {

namespace {

namespace fs = std::filesystem;

std::string place_of(const LibraryName& name) { return fmt::format("backend '{}'", name.backend); }

std::string advice_of(const LibraryName& name) {
  return fmt::format("install the Python package {0}, or name the library's file (--backend-lib {1}=FILE)", name.package, name.backend);
}

std::string last_error() {
  const char* text = dlerror();
  return text ? text : "no reason given";
}

std::atomic<bool> is_exiting = false;

/// Registers a function that sets is_exiting at the exit of the process. Such functions run in the reverse order of their registration, so
/// this one runs before those of the library, which were registered when it was opened.
Library open_until_exit(fs::path file, void* handle) {
  std::atexit([] { is_exiting = true; });
  return {std::move(file), handle};
}

Result<Library> open_file(const LibraryName& name, const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return fail(Code::file_missing, place_of(name), "its library is not where it was said to be")
        .expected(fmt::format("{} of {}", name.file, name.package))
        .found("no file " + file.string())
        .advice(advice_of(name));
  if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return open_until_exit(file, handle);
  return fail(Code::bad_file, place_of(name), "its library cannot be opened")
      .expected(fmt::format("{} of {}, with the libraries that it needs", name.file, name.package))
      .found(last_error())
      .advice(advice_of(name));
}

/// The numbers after "libNAME.so": 1, 31, 1.
std::vector<int> version_of(std::string_view numbers) {
  std::vector<int> out;
  for (const auto part : std::views::split(numbers, '.')) {
    int number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    out.push_back(number);
  }
  return out;
}

/// The file of that name, or with version numbers after it, in the folder: the newest of several; empty: there is none.
fs::path newest_file_in(const fs::path& folder, std::string_view file) {
  fs::path best;
  std::vector<int> newest;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string found = entry.path().filename().string();
    if (!found.starts_with(file) || (found.size() > file.size() && found[file.size()] != '.')) continue;
    const std::vector<int> version = version_of(std::string_view(found).substr(file.size()));
    if (best.empty() || version > newest) best = entry.path(), newest = version;
  }
  return best;
}

fs::path file_of(void* handle) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name ? map->l_name : "";
}

}  // namespace

bool is_ending() { return is_exiting; }

void* Library::find(const char* symbol) const { return dlsym(handle, symbol); }

Result<Library> open_library(const LibraryName& name, const Libraries& libraries) {
  if (const auto named = libraries.files.find(name.backend); named != libraries.files.end()) return open_file(name, named->second);
  std::string searched;
  for (const fs::path& packages : libraries.packages.empty() ? active_packages() : libraries.packages) {
    const fs::path folder = packages / name.folder;
    if (const fs::path file = newest_file_in(folder, name.file); !file.empty()) return open_file(name, file);
    searched += folder.string() + "; ";
  }
  if (searched.empty()) searched = "no Python in VIRTUAL_ENV or PATH that has packages; ";
  const std::string soname(name.soname);
  if (void* handle = dlopen(soname.c_str(), RTLD_NOW | RTLD_LOCAL)) return open_until_exit(file_of(handle), handle);
  return fail(Code::file_missing, place_of(name), "its library was not found")
      .expected(fmt::format("{} of {}", name.file, name.package))
      .found(fmt::format("nothing in: {}the system's loader ({})", searched, last_error()))
      .advice(advice_of(name));
}

}  // namespace tenon::runtime
