// SPDX-License-Identifier: Apache-2.0
#include "compiler/plugins.h"

#include <map>
#include <mutex>

#include "ops/core/op.h"
#include "ops/plugin/plugin_table.h"

namespace tenon::compiler {

Result<Plugins> kept_plugins(std::span<const std::filesystem::path> files, const plugin::Logger& logger) {
  static std::mutex lock;
  static auto& tables = *new std::map<std::shared_ptr<const plugin::Registry>, std::shared_ptr<const ir::OpTable>>;
  auto registry = TRY(plugin::kept_registry(files, logger));
  if (registry->empty()) return Plugins{std::move(registry), &ops::table()};
  const std::lock_guard held(lock);
  auto& table = tables[registry];
  if (!table) table = TRY(ops::table_with_plugins(registry));
  return Plugins{std::move(registry), table.get()};
}

}  // namespace tenon::compiler
