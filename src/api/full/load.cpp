// SPDX-License-Identifier: Apache-2.0
#include "compiler/load.h"

#include "api/state.h"

namespace tenon::inline v1 {

base::Result<std::shared_ptr<runtime::Engine>> open_engine(const std::filesystem::path& path, const LoadOptions& options) {
  return compiler::load(path, {.verify = options.verify, .libraries = libraries_of(options.libraries)});
}

}  // namespace tenon::inline v1
