// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <link.h>

#include <filesystem>

#include "plugin/worker/process.h"

namespace tenon::plugin::worker {

namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "tenon-plugin-worker";
constexpr int kFoldersAbove = 3;

/// The executable or shared library that this code is in.
fs::path this_file() {
  Dl_info info{};
  void* map = nullptr;
  const void* const here = reinterpret_cast<const void*>(&worker_program);
  const bool found = dladdr1(here, &info, &map, RTLD_DL_LINKMAP) != 0 && map;
  const char* const name = found ? static_cast<const link_map*>(map)->l_name : "";
  std::error_code ignored;
  return *name ? fs::weakly_canonical(name, ignored) : fs::read_symlink("/proc/self/exe", ignored);
}

}  // namespace

Result<std::string> worker_program() {
  fs::path folder = this_file().parent_path();
  std::string looked = (folder / kName).string();
  std::error_code ignored;
  if (fs::exists(folder / kName, ignored)) return (folder / kName).string();
  for (int k = 0; k < kFoldersAbove; ++k) {
    folder = folder.parent_path();
    const fs::path file = folder / "bin" / kName;
    if (fs::exists(file, ignored)) return file.string();
    looked += ", " + file.string();
  }
  return fail(Code::file_missing, "isolated plugins", "the program that runs plugins in a process of their own is not there")
      .expected(std::string(kName) + " beside Tenon's library, or in the folder bin above it")
      .found("none of " + looked)
      .advice("install it with Tenon (`cmake --install`, or the wheel), or run without isolation");
}

}  // namespace tenon::plugin::worker
