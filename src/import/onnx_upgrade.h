// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx_maker.h"

namespace tenon::import {

/// Brings every node to its newest form and gives every value its type, in order, bodies included. Declared types fill only
/// what inference leaves open.
/// Errors: what upgrades and inference give; dtype_mismatch where an output is declared otherwise.
class GraphUpgrader {
 public:
  GraphUpgrader(ImportNotes& notes, TypeReader& types) : notes_(notes), types_(types) {}
  Result<void> upgrade_graph(ir::Graph& graph);
  /// Declared output types of the root: errors and warnings.
  Result<std::vector<std::string>> check_outputs(const ir::Graph& graph, const std::vector<OnnxValueInfo>& declared);

 private:
  Result<void> upgrade(ir::Graph& graph, ir::NodeId node);
  Result<void> upgrade_bodies(ir::Graph& graph, ir::NodeId node);
  bool has_upgrades(const ir::Graph& graph) const;
  void use_hints(ir::Graph& graph, ir::NodeId node);

  ImportNotes& notes_;
  TypeReader& types_;
};

}  // namespace tenon::import
