// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx_maker.h"
#include "ir/size_names.h"

namespace tenon::import {

/// Upgrades every node to the newest version of its op and infers every type, in order, bodies included. Declared types are used only where
/// inference gives none. Errors: those of upgrades and of inference; dtype_mismatch where an output is declared with another type.
class GraphUpgrader {
 public:
  /// keep_invalid: nodes that violate the schema of their op become unknown ops.
  GraphUpgrader(ImportNotes& notes, TypeReader& types, bool keep_invalid) : notes_(notes), types_(types), keep_invalid_(keep_invalid) {}
  Result<void> upgrade_graph(ir::Graph& graph);
  /// Gives data-dependent sizes the names that the model declares for them.
  void name_sizes(ir::Graph& root);
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Compares the root's output types with the declared ones. Returns warnings; errors: dtype_mismatch.
  Result<std::vector<std::string>> check_outputs(const ir::Graph& graph, const std::vector<OnnxValueInfo>& declared);

 private:
  Result<void> upgrade(ir::Graph& graph, ir::NodeId node);
  Result<void> upgrade_bodies(ir::Graph& graph, ir::NodeId node);
  bool has_upgrades(const ir::Graph& graph) const;
  Result<void> upgrade_and_infer(ir::Graph& graph, ir::NodeId node);
  /// Replaces a node that violates the schema of its op by a node of an unknown op, and returns that; none where the node was already
  /// upgraded.
  ir::NodeId keep_as_unknown(ir::Graph& graph, ir::NodeId node);
  void use_hints(ir::Graph& graph, ir::NodeId node);
  void declare_sizes(ir::Graph& graph, ir::SizeNames& names);

  std::vector<std::string> warnings_;
  ImportNotes& notes_;
  TypeReader& types_;
  bool keep_invalid_;
};

}  // namespace tenon::import
