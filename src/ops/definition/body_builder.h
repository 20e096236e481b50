// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"

namespace tenon::ops {

/// The nodes of `body` with `arguments` for its inputs (captures too); its results, or none where a node in it has a body itself.
std::vector<ir::ValueId> inlined(ir::Builder& build, const ir::Graph& body, std::span<const ir::ValueId> arguments);

/// The body of a Scan or Loop while it is built. Formal inputs come first; each outer value that the body uses is one capture, unless it
/// is a constant: that stays one inside.
struct BodyBuilder {
  explicit BodyBuilder(ir::Builder& around) : outer(around), graph(ir::Graph::body_of(around.graph())), build(*graph) {}
  ir::ValueId input(std::string name, ir::Type type) { return graph->add_input(std::move(name), std::move(type)); }
  ir::ValueId capture(ir::ValueId outside);

  ir::Builder& outer;
  std::unique_ptr<ir::Graph> graph;
  ir::Builder build;
  std::vector<ir::ValueId> captured, inside;
};

}  // namespace tenon::ops
