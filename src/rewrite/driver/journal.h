// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenon::rewrite {

/// An undo log of a graph: as its listener it records all changes, so that they can be undone in place, and so that "changed" does not
/// depend on what a rule returns. It does not forward to the listener that it replaces. Between `begin` and the end of the transaction no
/// node may be erased; the driver erases afterwards.
class Journal : public ir::Listener {
 public:
  explicit Journal(ir::Graph& graph) : graph_(graph) { begin(); }

  void inserted(ir::NodeId node) override { inserted_.push_back(node); }
  /// Only new nodes that inference refused may be erased.
  void erasing(ir::NodeId node) override { std::erase(inserted_, node); }
  void operand_changed(ir::NodeId node, uint32_t slot, ir::ValueId before) override { edits_.push_back({node, slot, before}); }
  void output_changed(uint32_t slot, ir::ValueId before) override { edits_.push_back({{}, slot, before}); }
  void attribute_changed(ir::NodeId node, std::string_view name, const ir::Attribute* before) override;
  void value_added(ir::ValueId value) override { constants_.push_back(value); }

  /// Starts a transaction: drops all records.
  void begin();
  /// The name of `from` was moved to `to`.
  void record_name_transfer(ir::ValueId from, ir::ValueId to) { names_.push_back({from, to}); }
  /// Called before the type or the shape data of a value that existed before the transaction are set.
  void record_type(ir::ValueId value) { types_.push_back({value, graph_.value(value).type, graph_.value(value).data}); }
  /// Type or shape data of the value have changed: its users are visited again.
  void record_retyped(ir::ValueId value) { retyped_.push_back(value); }
  /// Undoes all changes since `begin`, newest first. Nodes that were moved stay where they are, in a legal order.
  void undo();

  /// True where the graph has not changed since `begin`.
  bool empty() const { return inserted_.empty() && edits_.empty() && attributes_.empty() && constants_.empty(); }
  const std::vector<ir::NodeId>& inserted_nodes() const { return inserted_; }
  /// An operand of a node, or a graph output, that was set to another value.
  struct Edit {
    ir::NodeId node;  ///< none: a graph output
    uint32_t slot;
    ir::ValueId before;
  };
  const std::vector<Edit>& edits() const { return edits_; }
  const std::vector<ir::ValueId>& retyped_values() const { return retyped_; }
  /// Assumptions about sizes that were made since `begin`.
  std::span<const ir::Assumption> assumed() const { return graph_.assumptions.all().subspan(assumptions_); }
  /// Nodes whose attributes were set or erased, once for each change.
  std::vector<ir::NodeId> nodes_with_new_attributes() const;

 private:
  ir::Graph& graph_;
  std::vector<ir::NodeId> inserted_;
  std::vector<Edit> edits_;
  std::vector<ir::ValueId> constants_;
  size_t assumptions_ = 0;  ///< their number at `begin`
  std::vector<ir::ValueId> retyped_;
  struct OldType {
    ir::ValueId value;
    ir::Type type;
    std::optional<ir::ShapeData> data;
  };
  std::vector<OldType> types_;
  std::vector<std::pair<ir::ValueId, ir::ValueId>> names_;  ///< from, to
  struct AttributeEdit {
    ir::NodeId node;
    std::string name;
    std::optional<ir::Attribute> before;
  };
  std::vector<AttributeEdit> attributes_;
};

}  // namespace tenon::rewrite
