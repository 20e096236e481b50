// SPDX-License-Identifier: Apache-2.0
#include "ops/image/system_library.h"

#include <dlfcn.h>

namespace tenon::ops {

namespace system_library {
namespace {

Error missing(const SystemLibrary& library, std::string found) {
  return fail(Code::not_supported, library.soname, std::string("not supported here: ") + library.purpose)
      .expected(std::string("the library ") + library.soname)
      .found(std::move(found))
      .advice(std::string("install it (Debian: ") + library.package + ")");
}

}  // namespace
}  // namespace system_library

Result<void> bind_functions(const SystemLibrary& library, std::initializer_list<std::pair<const char*, void**>> functions) {
  using namespace system_library;
  void* const handle = dlopen(library.soname, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return missing(library, why != nullptr ? why : "no such library");
  }
  for (const auto& [name, place] : functions) {
    *place = dlsym(handle, name);
    if (*place == nullptr) return missing(library, std::string("one without ") + name);
  }
  return {};
}

}  // namespace tenon::ops
