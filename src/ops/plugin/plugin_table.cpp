// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_table.h"

#include <fmt/format.h>

#include "ops/plugin/plugin_op.h"

namespace tenon::ops {

namespace {

class PluginTable final : public ir::OpTable {
 public:
  static Result<std::shared_ptr<const ir::OpTable>> make(std::shared_ptr<const plugin::Registry> plugins) {
    const auto out = std::make_shared<PluginTable>();
    std::vector<const OpDef*> defs;
    for (const plugin::Op* op : plugins->ops()) {
      if (op->table.kernel_of) continue;
      const bool is_newest = plugins->find(op->name_space, op->name) == op;
      out->ops_.push_back(TRY(PluginOp::make(*op, is_newest ? op->name : fmt::format("{}${}", op->name, op->version))));
      defs.push_back(&out->ops_.back()->def());
    }
    out->table_ = TRY(table_with(defs));
    out->plugins_ = std::move(plugins);
    return out;
  }

  const ir::Op* find(std::string_view domain, std::string_view name) const override { return table_->find(domain, name); }

 private:
  std::shared_ptr<const plugin::Registry> plugins_;
  std::vector<std::unique_ptr<const PluginOp>> ops_;
  std::unique_ptr<const ir::OpTable> table_;
};

}  // namespace

Result<std::shared_ptr<const ir::OpTable>> table_with_plugins(std::shared_ptr<const plugin::Registry> plugins) {
  return PluginTable::make(std::move(plugins));
}

}  // namespace tenon::ops
