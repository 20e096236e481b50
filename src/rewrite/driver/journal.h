// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenon::rewrite {

/// Records the changes of a graph, as its listener, so that they can be undone in place and so that "changed" is
/// measured and never claimed. Between `begin` and the end of the transaction no node may be erased; the driver erases afterwards.
class Journal : public ir::Listener {
 public:
  explicit Journal(ir::Graph& graph) : graph_(graph) { begin(); }

  void inserted(ir::NodeId node) override { inserted_.push_back(node); }
  /// A new node that inference refused; no other may be erased.
  void erasing(ir::NodeId node) override { std::erase(inserted_, node); }
  void operand_changed(ir::NodeId node, uint32_t slot, ir::ValueId before) override { edits_.push_back({node, slot, before}); }
  void output_changed(uint32_t slot, ir::ValueId before) override { edits_.push_back({{}, slot, before}); }
  void attribute_changed(ir::NodeId node, std::string_view name, const ir::Attribute* before) override;
  void value_added(ir::ValueId value) override { constants_.push_back(value); }

  void begin();
  /// `to` has got the name of `from`.
  void name_handed_over(ir::ValueId from, ir::ValueId to) { names_.push_back({from, to}); }
  /// To be called before type or data of a value that was there already are refined.
  void refining(ir::ValueId value) { types_.push_back({value, graph_.value(value).type, graph_.value(value).data}); }
  /// More is known of the value than before; its users are worth another look.
  void retyped(ir::ValueId value) { retyped_.push_back(value); }
  /// Takes back everything since `begin`, newest first. Nodes that were moved stay where they are: any legal order is as good.
  void undo();

  /// True where nothing has happened since `begin`.
  bool empty() const { return inserted_.empty() && edits_.empty() && attributes_.empty() && constants_.empty(); }
  const std::vector<ir::NodeId>& nodes() const { return inserted_; }
  struct Edit {
    ir::NodeId node;  ///< none: a graph output
    uint32_t slot;
    ir::ValueId before;
  };
  const std::vector<Edit>& edits() const { return edits_; }
  const std::vector<ir::ValueId>& retyped() const { return retyped_; }
  /// What is assumed of sizes since `begin`, and was not before.
  std::span<const ir::Assumption> assumed() const { return graph_.assumptions.all().subspan(assumptions_); }
  /// Nodes whose attributes were set or erased, once a change.
  std::vector<ir::NodeId> nodes_with_new_attributes() const;

 private:
  ir::Graph& graph_;
  std::vector<ir::NodeId> inserted_;
  std::vector<Edit> edits_;
  std::vector<ir::ValueId> constants_;
  size_t assumptions_ = 0;  ///< how many there were before
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
