// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_table.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>

#include "ops/plugin/plugin_op.h"

namespace tenon::ops {

namespace {

/// An op that a table contains or contained, with everything that it points to. Kept until the process ends, like its library.
struct KnownOp {
  explicit KnownOp(const plugin::Op& given) : op(given) {}
  const plugin::Op op;
  std::unique_ptr<const PluginOp> def;
  std::unique_ptr<const ir::OpTable> table;  ///< of this op alone, and Tenon's

  const ir::Op* found() const { return table->find(def->def().domain, def->def().name); }
};

/// The same op in every table, so that graphs and rules that were made with different lists of libraries share it.
Result<const ir::Op*> known_op(const plugin::Op& op, const std::string& name) {
  static std::mutex lock;
  static auto& known = *new std::map<std::tuple<const plugin::Host*, std::string, std::string>, std::unique_ptr<KnownOp>>;
  const std::lock_guard held(lock);
  std::unique_ptr<KnownOp>& slot = known[{op.host, op.key(), name}];
  if (slot) return slot->found();
  auto made = std::make_unique<KnownOp>(op);
  made->def = TRY(PluginOp::make(made->op, name));
  made->table = TRY(table_with(std::array{&made->def->def()}));
  slot = std::move(made);
  return slot->found();
}

class PluginTable final : public ir::OpTable {
 public:
  static Result<std::shared_ptr<const ir::OpTable>> make(std::shared_ptr<const plugin::Registry> plugins) {
    const auto out = std::make_shared<PluginTable>();
    for (const plugin::Op* op : plugins->ops()) {
      if (op->table.kernel_of) continue;
      const bool is_newest = plugins->find(op->name_space, op->name) == op;
      const ir::Op* const one = TRY(known_op(*op, is_newest ? op->name : name_of_older(*op)));
      out->ops_.emplace(Key(one->domain, one->name), one);
    }
    return out;
  }

  const ir::Op* find(std::string_view domain, std::string_view name) const override {
    const auto found = ops_.find(Key(domain, name));
    return found != ops_.end() ? found->second : table().find(domain, name);
  }

 private:
  using Key = std::pair<std::string_view, std::string_view>;
  std::map<Key, const ir::Op*> ops_;
};

}  // namespace

std::string name_of_older(const plugin::Op& op) { return fmt::format("{}${}", op.name, op.version); }

Result<std::shared_ptr<const ir::OpTable>> table_with_plugins(std::shared_ptr<const plugin::Registry> plugins) {
  return PluginTable::make(std::move(plugins));
}

}  // namespace tenon::ops
