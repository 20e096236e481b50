// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <unordered_map>

#include "ops/core/defined_op.h"
#include "ops/core/schema.h"

namespace tenon::ops {

#define TENON_ENTRY(x)         \
  namespace op_##x {           \
    extern const OpDef op_##x; \
  }
#include "tenon/ops_list.inc"
#undef TENON_ENTRY

namespace {

class TableOp final : public DefinedOp {
 public:
  explicit TableOp(const OpDef& op_def) : DefinedOp(op_def), specs_(attribute_specs(op_def)) {
    domain = op_def.domain;
    name = op_def.name;
    since_version = op_def.since_version;
    const Arity in = arity_of(op_def.inputs), out = arity_of(op_def.outputs);
    min_inputs = in.least;
    max_inputs = in.most;
    min_outputs = out.least;
    max_outputs = out.most;
    commutative = op_def.commutative;
    deterministic = op_def.deterministic;
    has_effects = op_def.has_effects;
  }

  Result<void> infer(NodeView& view) const override {
    if (!def.checks_attributes) TRY(check_attributes(view, specs_));
    TRY(check_operands(view, def));
    view.output_data.assign(view.outputs.size(), {});
    TENON_ASSERT(def.infer != nullptr);
    return def.infer(view);
  }

  std::vector<ir::Type> body_input_types(const NodeView& view, size_t body) const override {
    return def.body_input_types ? def.body_input_types(view, body) : std::vector<ir::Type>();
  }

  size_t result_count(const NodeView& view) const override {
    return def.result_count ? def.result_count(view) : DefinedOp::result_count(view);
  }

 private:
  std::vector<AttributeSpec> specs_;
};

class Table final : public ir::OpTable {
 public:
  /// base: the table that these ops extend; null: none.
  explicit Table(const ir::OpTable* base = nullptr) : base_(base) {}
  /// false: the table has an op of this name already.
  bool add(const OpDef& def) {
    if (base_ && base_->find(def.domain, def.name)) return false;
    return ops_.emplace(Key(def.domain, def.name), std::make_unique<TableOp>(def)).second;
  }
  const ir::Op* find(std::string_view domain, std::string_view name) const override {
    auto at = ops_.find(Key(domain == "ai.onnx" ? std::string_view() : domain, name));
    if (at != ops_.end()) return at->second.get();
    return base_ ? base_->find(domain, name) : nullptr;
  }

 private:
  using Key = std::pair<std::string_view, std::string_view>;
  struct Hash {
    size_t operator()(const Key& key) const {
      return std::hash<std::string_view>{}(key.first) * 31 + std::hash<std::string_view>{}(key.second);
    }
  };
  const ir::OpTable* base_;
  std::unordered_map<Key, std::unique_ptr<TableOp>, Hash> ops_;
};

Table table_of_all() {
  Table out;
  for (const OpDef* def : all_ops()) out.add(*def);
  return out;
}

}  // namespace

std::span<const OpDef* const> all_ops() {
#define TENON_ENTRY(x) &op_##x::op_##x,
  static constexpr const OpDef* kOps[] = {
#include "tenon/ops_list.inc"
  };
#undef TENON_ENTRY
  return kOps;
}

const ir::OpTable& table() {
  static const Table the_table = table_of_all();
  return the_table;
}

Result<std::unique_ptr<ir::OpTable>> table_with(std::span<const OpDef* const> others) {
  auto out = std::make_unique<Table>(&table());
  for (const OpDef* def : others)
    if (!out->add(*def))
      return fail(Code::bad_usage, std::string(def->name), "there is an op of this name already")
          .expected("a name of its own")
          .found(std::string(def->domain));
  return out;
}

const OpDef& def_of(const ir::Op& op) {
  TENON_ASSERT(dynamic_cast<const DefinedOp*>(&op) != nullptr);
  return static_cast<const DefinedOp&>(op).def;
}

}  // namespace tenon::ops
