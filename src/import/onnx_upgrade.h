// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx_maker.h"
#include "ir/size_names.h"

namespace tenon::import {

/// Brings every node to its newest form and gives every value its type, in order, bodies included. Declared types fill only
/// what inference leaves open.
/// Errors: what upgrades and inference give; dtype_mismatch where an output is declared otherwise.
class GraphUpgrader {
 public:
  /// keeps_broken: nodes that break their op's rules stay as they are, meaning nothing.
  GraphUpgrader(ImportNotes& notes, TypeReader& types, bool keeps_broken) : notes_(notes), types_(types), keeps_broken_(keeps_broken) {}
  Result<void> upgrade_graph(ir::Graph& graph);
  /// Data-dependent sizes take the names that the model declares for them.
  void name_sizes(ir::Graph& root);
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Declared output types of the root: errors and warnings.
  Result<std::vector<std::string>> check_outputs(const ir::Graph& graph, const std::vector<OnnxValueInfo>& declared);

 private:
  Result<void> upgrade(ir::Graph& graph, ir::NodeId node);
  Result<void> upgrade_bodies(ir::Graph& graph, ir::NodeId node);
  bool has_upgrades(const ir::Graph& graph) const;
  Result<void> upgrade_and_infer(ir::Graph& graph, ir::NodeId node);
  /// A node that breaks its operator's rules: as the file says it, meaning nothing. None where its
  /// form has been changed already.
  ir::NodeId keep_as_unknown(ir::Graph& graph, ir::NodeId node);
  void use_hints(ir::Graph& graph, ir::NodeId node);
  void declare_sizes(ir::Graph& graph, ir::SizeNames& names);

  std::vector<std::string> warnings_;
  ImportNotes& notes_;
  TypeReader& types_;
  bool keeps_broken_;
};

}  // namespace tenon::import
