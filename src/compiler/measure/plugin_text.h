// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "backends/plugin/plugin.h"
#include "ir/graph.h"

namespace tenon::compiler {

/// The plugin backend in `backends`; null: there is none.
const backends::Plugin* plugin_backend_in(const backend::Backends& backends);

/// Identifies the plugins that may run nodes of a graph, by the hashes of their libraries and the implementations chosen for them: times of
/// the graph depend on these.
std::string text_of_plugins(const ir::Graph& graph, const backend::Backends& backends);

}  // namespace tenon::compiler
