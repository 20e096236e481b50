// SPDX-License-Identifier: Apache-2.0
#include "compiler/plugins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "backends/plugin/plugin.h"
#include "base/nearest.h"
#include "ops/core/op.h"
#include "ops/plugin/plugin_table.h"

namespace tenon::compiler {

Result<const ir::OpTable*> table_of(const std::shared_ptr<const plugin::Registry>& registry) {
  static std::mutex lock;
  static auto& tables = *new std::map<std::shared_ptr<const plugin::Registry>, std::shared_ptr<const ir::OpTable>>;
  if (registry->empty()) return &ops::table();
  const std::lock_guard held(lock);
  auto& table = tables[registry];
  if (!table) table = TRY(ops::table_with_plugins(registry));
  return table.get();
}

Result<Plugins> load_plugins(std::span<const std::filesystem::path> files, const plugin::Logger& logger,
                             std::span<const std::shared_ptr<const plugin::Library>> more) {
  auto registry = TRY(plugin::cached_registry(files, logger, more));
  const ir::OpTable* const ops = TRY(table_of(registry));
  return Plugins{std::move(registry), ops};
}

Result<std::vector<partition::Pin>> preferences(const plugin::Registry& plugins, std::span<const std::string> kernels) {
  std::map<std::string, std::string> known;  // kernel to op
  for (const plugin::Op* op : plugins.ops())
    if (op->table.kernel_of) known.emplace(op->name_space + "::" + op->name, op->table.kernel_of);
  std::vector<std::string> names;
  for (const auto& [kernel, _] : known) names.push_back(kernel);
  std::vector<partition::Pin> out;
  for (const std::string& kernel : kernels) {
    const auto found = known.find(kernel);
    if (found == known.end()) {
      const std::string near = nearest_name(kernel, names);
      return fail(Code::bad_usage, "prefer " + kernel, "no plugin has a kernel of this name")
          .expected(names.empty() ? "a kernel of a library of plugins that is named too" : fmt::format("{}", fmt::join(names, ", ")))
          .found("'" + kernel + "'")
          .advice(near.empty() ? "`tenon plugin list LIB` names what a library has" : "did you mean '" + near + "'?");
    }
    out.push_back({found->second, std::string(backends::Plugin::kName)});
  }
  return out;
}

}  // namespace tenon::compiler
