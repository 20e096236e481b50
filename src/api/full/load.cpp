// SPDX-License-Identifier: Apache-2.0
#include "compiler/load.h"

#include "compiler/plugins.h"

#include "api/state.h"

namespace tenon::inline v1 {

base::Result<std::shared_ptr<runtime::Engine>> open_engine(const std::filesystem::path& path, const LoadOptions& options) {
  const auto plugins = TRY(compiler::kept_plugins(options.plugins));
  return compiler::load(path, {.verify = options.verify, .ops = plugins.ops, .libraries = TRY(libraries_of(options))});
}

}  // namespace tenon::inline v1
