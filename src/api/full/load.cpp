// SPDX-License-Identifier: Apache-2.0
#include "compiler/load.h"

#include "compiler/plugins.h"

#include "api/state.h"

namespace tenon::inline v1 {

base::Result<std::shared_ptr<runtime::Engine>> open_engine(const std::filesystem::path& path, const LoadOptions& options) {
  const runtime::Libraries libraries = TRY(libraries_of(options, path));
  const auto* const ops = TRY(compiler::table_of(libraries.plugins));
  return compiler::load(path, {.verify = options.verify, .ops = ops, .libraries = libraries});
}

}  // namespace tenon::inline v1
