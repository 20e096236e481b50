// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx_maker.h"

namespace tenon::import {

/// Brings every node to its newest form and gives every value its type, in order, bodies included.
/// The types of captured inputs are those of the captured values; a carried value of a Loop or Scan keeps the sizes that no
/// iteration changes, the others become unknown. Declared types only fill what inference leaves open.
/// Errors: what upgrades and inference give; dtype_mismatch where an output is declared otherwise.
class Settler {
 public:
  Settler(ImportNotes& notes, TypeReader& types) : notes_(notes), types_(types) {}
  Result<void> settle(ir::Graph& graph);
  /// Declared output types of the root: errors and warnings.
  Result<std::vector<std::string>> check_outputs(const ir::Graph& graph, const std::vector<OnnxValueInfo>& declared);

 private:
  static constexpr int64_t kMinVisits = 4096, kVisitsPerNode = 64;
  Result<void> settle_nodes(ir::Graph& graph);
  Result<void> settle(ir::Graph& graph, ir::NodeId node);
  Result<void> settle_bodies(ir::Graph& graph, ir::NodeId node);
  Result<void> settle_loop(ir::Graph& graph, ir::NodeId node);
  Result<void> use_hints(ir::Graph& graph, ir::NodeId node);

  ImportNotes& notes_;
  TypeReader& types_;
  int64_t visits_left_ = 0;
};

/// Sees to it that output k of the graph is called names[k], with an Identity where a value cannot carry the name.
Result<void> name_outputs(ir::Graph& graph, const std::vector<OnnxValueInfo>& names);

}  // namespace tenon::import
