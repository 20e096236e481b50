// SPDX-License-Identifier: Apache-2.0
#include "ops/core/unknown.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ops/core/defined_op.h"

namespace tenon::ops {
namespace {

class UnknownOp final : public DefinedOp {
 public:
  UnknownOp(std::string_view op_domain, std::string_view op_name) : DefinedOp(own_) {
    domain = op_domain;
    name = op_name;
    max_inputs = max_outputs = -1;
    min_outputs = 0;
    deterministic = false;
    unknown = true;
    own_.domain = domain;
    own_.name = name;
    own_.outputs = {};
  }

  /// Leaves the declared types of the results.
  Result<void> infer(NodeView& view) const override {
    view.output_data.assign(view.outputs.size(), {});
    return {};
  }
  size_t result_count(const NodeView&) const override { return 1; }

 private:
  OpDef own_;
};

class UnknownOps {
 public:
  const ir::Op* find(std::string_view domain, std::string_view name) const {
    const std::lock_guard lock(mutex_);
    std::pair key{std::string(domain), std::string(name)};
    if (const auto at = unknown_.find(key); at != unknown_.end()) return at->second.get();
    const size_t bytes = sizeof(UnknownOp) + 4 * (domain.size() + name.size());
    if (name.empty() || name_bytes_ + bytes > kUnknownNameBytes) return nullptr;
    name_bytes_ += bytes;
    return unknown_.emplace(std::move(key), std::make_unique<UnknownOp>(domain, name)).first->second.get();
  }

 private:
  mutable std::mutex mutex_;
  mutable size_t name_bytes_ = 0;
  mutable std::map<std::pair<std::string, std::string>, std::unique_ptr<UnknownOp>> unknown_;
};

const UnknownOps& unknown_ops() {
  static const UnknownOps ops;
  return ops;
}

class TableWithUnknownOps final : public ir::OpTable {
 public:
  explicit TableWithUnknownOps(const ir::OpTable& known) : known_(known) {}

  const ir::Op* find(std::string_view domain, std::string_view name) const override {
    if (domain == "ai.onnx") domain = {};
    const ir::Op* const known = known_.find(domain, name);
    return known ? known : unknown_ops().find(domain, name);
  }

 private:
  const ir::OpTable& known_;
};

}  // namespace

const ir::OpTable& table_with_unknown_ops() {
  static const TableWithUnknownOps out(table());
  return out;
}

const ir::OpTable& table_with_unknown_ops(const ir::OpTable& known) {
  if (&known == &table()) return table_with_unknown_ops();
  static std::mutex lock;
  static auto& tables = *new std::map<const ir::OpTable*, TableWithUnknownOps>;
  const std::lock_guard held(lock);
  return tables.try_emplace(&known, known).first->second;
}

bool has_unknown_ops(const ir::OpTable& table) { return dynamic_cast<const TableWithUnknownOps*>(&table) != nullptr; }

const ir::Op* unknown_op(std::string_view domain, std::string_view name) { return unknown_ops().find(domain, name); }

}  // namespace tenon::ops
