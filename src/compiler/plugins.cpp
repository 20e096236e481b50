// SPDX-License-Identifier: Apache-2.0
#include "compiler/plugins.h"

#include "ops/core/op.h"
#include "ops/plugin/plugin_table.h"

namespace tenon::compiler {

Result<Plugins> load_plugins(std::span<const std::filesystem::path> files, const plugin::LoadOptions& options) {
  const auto registry = std::make_shared<plugin::Registry>();
  for (const std::filesystem::path& file : files) TRY(registry->load(file, options));
  // Without plugins the library's own table will do, which nobody has to keep.
  if (registry->empty()) return Plugins{registry, std::shared_ptr<const ir::OpTable>(std::shared_ptr<const void>(), &ops::table())};
  return Plugins{registry, TRY(ops::table_with_plugins(registry))};
}

}  // namespace tenon::compiler
