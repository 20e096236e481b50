// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"

namespace tenon::ops {

/// Inlines `body`: builds its nodes with `arguments` in place of its inputs (captures too) and returns its results; empty where a node in
/// it has a body itself.
std::vector<ir::ValueId> inlined(ir::Builder& build, const ir::Graph& body, std::span<const ir::ValueId> arguments);

/// The body of a Scan or Loop while it is built. Formal inputs are added first; then each outer value that the body uses becomes one
/// capture, except constants, which are copied into the body.
struct BodyBuilder {
  explicit BodyBuilder(ir::Builder& around) : outer(around), graph(ir::Graph::body_of(around.graph())), build(*graph) {}
  ir::ValueId input(std::string name, ir::Type type) { return graph->add_input(std::move(name), std::move(type)); }
  /// The value in the body for a value of the outer graph.
  ir::ValueId capture(ir::ValueId outer_value);

  ir::Builder& outer;
  std::unique_ptr<ir::Graph> graph;
  ir::Builder build;
  std::vector<ir::ValueId> captured;        ///< values of the outer graph, added by capture()
  std::vector<ir::ValueId> capture_inputs;  ///< their inputs of the body, in the same order
};

}  // namespace tenon::ops
