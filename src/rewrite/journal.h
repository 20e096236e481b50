// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenon::rewrite {

/// Records what happens to a graph, told by the graph itself, so that it can be taken back in place and so that "changed" is
/// measured and never claimed. Between `begin` and `commit` no node may be erased; the driver erases after the commit.
class Journal : public ir::Listener {
 public:
  explicit Journal(ir::Graph& graph) : graph_(graph) {}

  void inserted(ir::NodeId node) override { inserted_.push_back(node); }
  void operand_changed(ir::NodeId node, uint32_t slot, ir::ValueId before) override { edits_.push_back({node, slot, before}); }
  void output_changed(uint32_t slot, ir::ValueId before) override { edits_.push_back({{}, slot, before}); }

  void begin();
  /// Constants do not pass the listener: the rewriter hands over what it made.
  void constants_made(std::vector<ir::ValueId> constants) { constants_ = std::move(constants); }
  /// `to` has got the name of `from`.
  void name_handed_over(ir::ValueId from, ir::ValueId to) { names_.push_back({from, to}); }
  /// To be called before type or data of a value that was there already are refined.
  void refining(ir::ValueId value) { types_.push_back({value, graph_.value(value).type, graph_.value(value).data}); }
  /// More is known of the value than before; its users are worth another look.
  void retyped(ir::ValueId value) { retyped_.push_back(value); }
  /// Takes back everything since `begin`, newest first. Nodes that were moved stay where they are: any legal order is as good.
  void undo();

  const std::vector<ir::NodeId>& nodes() const { return inserted_; }
  struct Edit {
    ir::NodeId node;  ///< none: a graph output
    uint32_t slot;
    ir::ValueId before;
  };
  const std::vector<Edit>& edits() const { return edits_; }
  const std::vector<ir::ValueId>& retyped() const { return retyped_; }
  const std::vector<ir::ValueId>& constants() const { return constants_; }

 private:
  ir::Graph& graph_;
  std::vector<ir::NodeId> inserted_;
  std::vector<Edit> edits_;
  std::vector<ir::ValueId> constants_;
  std::vector<ir::ValueId> retyped_;
  struct Known {
    ir::ValueId value;
    ir::Type type;
    std::optional<ir::ShapeData> data;
  };
  std::vector<Known> types_;
  std::vector<std::pair<ir::ValueId, ir::ValueId>> names_;  ///< from, to
};

}  // namespace tenon::rewrite
