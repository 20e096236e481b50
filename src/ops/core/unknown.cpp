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

  /// What the results were told stays.
  Result<void> infer(NodeView& view) const override {
    view.output_data.assign(view.outputs.size(), {});
    return {};
  }
  size_t results(const NodeView&) const override { return 1; }

 private:
  OpDef own_;
};

class OpenTable final : public ir::OpTable {
 public:
  const ir::Op* find(std::string_view domain, std::string_view name) const override {
    if (domain == "ai.onnx") domain = {};
    if (const ir::Op* known = table().find(domain, name)) return known;
    return unknown(domain, name);
  }

  const ir::Op* unknown(std::string_view domain, std::string_view name) const {
    const std::lock_guard lock(mutex_);
    std::pair key{std::string(domain), std::string(name)};
    if (const auto at = unknown_.find(key); at != unknown_.end()) return at->second.get();
    const size_t bytes = sizeof(UnknownOp) + 4 * (domain.size() + name.size());
    if (name.empty() || spent_ + bytes > kUnknownNameBytes) return nullptr;
    spent_ += bytes;
    return unknown_.emplace(std::move(key), std::make_unique<UnknownOp>(domain, name)).first->second.get();
  }

 private:
  mutable std::mutex mutex_;
  mutable size_t spent_ = 0;
  mutable std::map<std::pair<std::string, std::string>, std::unique_ptr<UnknownOp>> unknown_;
};

}  // namespace

namespace {
const OpenTable& the_table() {
  static const OpenTable table;
  return table;
}
}  // namespace

const ir::OpTable& open_table() { return the_table(); }

const ir::Op* unknown_op(std::string_view domain, std::string_view name) { return the_table().unknown(domain, name); }

}  // namespace tenon::ops
