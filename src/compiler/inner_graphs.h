// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/compile.h"

namespace tenon::compiler {

/// Compiles the graphs that segments run (backend::Blob::graphs) on the fallback backend of their model: graphs of equal text once. An
/// inner graph may itself have segments that run graphs: these are compiled before it.
class InnerGraphs {
 public:
  /// Keeps references to all arguments. The fallback backend and those after it run the graphs.
  InnerGraphs(const CompileOptions& options, const BackendsInUse& backends, const ir::OpTable& ops, const codegen::Target& target);

  /// Compiles the graphs of all segments that are new, and numbers them. Errors: those of parsing and compile(), naming library, node and
  /// graph; bad_graph for a graph that runs itself.
  Result<void> lower_graphs_of(program::LoweredGraph& lowered);
  /// The compiled graphs in the order of their numbers; they point into this object.
  std::vector<program::LoweredGraph> take() { return std::move(lowered_); }

 private:
  /// The number of a graph; compiles it where it is new.
  Result<uint32_t> number_of(const backend::InnerGraph& graph);
  Result<program::LoweredGraph> lowered(const backend::InnerGraph& graph);

  CompileOptions options_;
  const ir::OpTable& ops_;
  const codegen::Target& target_;
  std::map<std::string, uint32_t> numbers_;  ///< by text and constants; kInProgress: it is being compiled
  std::vector<std::unique_ptr<PartitionedGraph>> partitioned_;
  std::vector<program::LoweredGraph> lowered_;
};

}  // namespace tenon::compiler
