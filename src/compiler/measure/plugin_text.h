// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "backends/plugin/plugin.h"
#include "ir/graph.h"

namespace tenon::compiler {

/// The backend of plugins among these; null: none.
const backends::Plugin* plugin_among(const backend::Backends& backends);

/// The builds of the plugins that may run nodes of a graph, and what is settled of them: what times of the graph depend on.
std::string text_of_plugins(const ir::Graph& graph, const backend::Backends& backends);

}  // namespace tenon::compiler
