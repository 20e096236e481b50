// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/plugin_text.h"

#include <fmt/format.h>

#include "compiler/measure/measured_backend.h"

namespace tenon::compiler {

const backends::Plugin* plugin_backend_in(const backend::Backends& backends) {
  for (const backend::Backend* b : backends) {
    while (const auto* measured = dynamic_cast<const MeasuredBackend*>(b)) b = &measured->wrapped();
    if (const auto* plugin = dynamic_cast<const backends::Plugin*>(b)) return plugin;
  }
  return nullptr;
}

namespace {

void add_plugins(const ir::Graph& graph, const backends::Plugin& plugin, std::string& out) {
  for (ir::NodeId n : graph.nodes()) {
    if (const plugin::Op* const op = plugin.op_for(graph.view(n)))
      out += fmt::format("{} {} {}\n", op->key(), op->sha256, plugin.choice_text(graph, n));
    for (const ir::Body& body : graph.node(n).bodies) add_plugins(*body.graph, plugin, out);
  }
}

}  // namespace

std::string text_of_plugins(const ir::Graph& graph, const backend::Backends& backends) {
  std::string out;
  if (const backends::Plugin* const plugin = plugin_backend_in(backends)) add_plugins(graph, *plugin, out);
  return out;
}

}  // namespace tenon::compiler
