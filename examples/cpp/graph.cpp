// SPDX-License-Identifier: Apache-2.0
// Shows the model that is its argument as a graph, and compiles that.
#include <tenon/graph.h>

#include <cstdio>

namespace {

tenon::Result<tenon::Engine> shown(const char* model) {
  auto graph = tenon::Graph::from_onnx(model);
  if (!graph) return std::unexpected(graph.error());
  for (const tenon::Port& port : graph->inputs()) std::printf("takes %s\n", port.name.c_str());
  auto text = graph->text();
  if (!text) return std::unexpected(text.error());
  std::printf("%zu nodes\n%s", graph->node_count(), text->c_str());
  return tenon::compile(*graph);
}

}  // namespace

int main(int argc, char** argv) {
  const auto engine = shown(argc > 1 ? argv[1] : "mlp.onnx");
  if (!engine) std::fprintf(stderr, "%s\n", engine.error().text().c_str());
  return engine ? 0 : 1;
}
