// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <mutex>

#include "compiler/plugins.h"
#include "import/onnx_export.h"
#include "import/onnx_import.h"
#include "ir/text.h"
#include "runtime/engine.h"

// Last: the public names come after the inner ones (see there).
#include "api/full/compile.h"
#include "api/state.h"
#include "tenon/partition.h"

namespace tenon::inline v1 {

struct Graph::State {
  std::unique_ptr<const ir::Graph> graph;
  std::vector<Port> inputs, outputs;
  std::mutex lock;  ///< an ir::Graph is for one thread at a time, looking at it too
};

namespace {

Port port_of(std::string name, const ir::Type& type) {
  Port out{std::move(name), type.dtype, {}, {}, {}, type.kind, type.key};
  if (!type.has_rank()) out.dimensions = {"*"};
  else
    for (const base::Dim d : *type.shape) {
      const bool any = !type.is_tensor() && !d.is_number();  // from one tensor in it to the next
      out.dimensions.push_back(any ? "?" : d.text());
      out.lower.push_back(any ? 0 : d.lower());
      out.upper.push_back(any ? std::numeric_limits<int64_t>::max() : d.upper());
    }
  return out;
}

Result<Graph> made(base::Result<std::unique_ptr<ir::Graph>> graph) {
  if (!graph) return std::unexpected(public_error(graph.error()));
  auto state = std::make_shared<Graph::State>();
  const ir::Graph& g = **graph;
  for (const ir::ValueId id : g.inputs()) state->inputs.push_back(port_of(g.value(id).name, g.value(id).type));
  for (uint32_t k = 0; k < g.outputs().size(); ++k) state->outputs.push_back(port_of(g.output_name(k), g.value(g.outputs()[k]).type));
  state->graph = std::move(*graph);
  return Graph(std::move(state));
}

std::unique_ptr<ir::Graph> copy_of(Graph::State& state) {
  const std::lock_guard held(state.lock);
  return state.graph->clone();
}

base::Result<import::ImportOptions> reading(const ReadOptions& options) {
  auto out = import_options(options.external_data, options.shapes);
  out.ops = TRY(compiler::load_plugins(options.plugins)).ops;
  out.metadata = true;  // save_onnx() writes it again
  return out;
}

template <class Import>
base::Result<std::unique_ptr<ir::Graph>> read(const ReadOptions& options, Import import) {
  const import::ImportOptions how = TRY(reading(options));
  return std::move(TRY(import(how)).graph);
}

base::Result<std::unique_ptr<ir::Graph>> parsed(std::string_view text, std::span<const std::filesystem::path> plugins) {
  return ir::parse(text, *TRY(compiler::load_plugins(plugins)).ops);
}

}  // namespace

Result<Graph> Graph::from_onnx(const std::filesystem::path& model, const ReadOptions& options) {
  return guarded([&] { return made(read(options, [&](const auto& how) { return import::import_onnx(model, how); })); });
}

Result<Graph> Graph::from_onnx(std::span<const std::byte> model, const ReadOptions& options, std::shared_ptr<const void> keeper) {
  return guarded([&] { return made(read(options, [&](const auto& how) { return import::import_onnx(model, std::move(keeper), how); })); });
}

Result<Graph> Graph::parse(std::string_view text, std::span<const std::filesystem::path> plugins) {
  return guarded([&] { return made(parsed(text, plugins)); });
}

std::span<const Port> Graph::inputs() const { return state_->inputs; }
std::span<const Port> Graph::outputs() const { return state_->outputs; }
size_t Graph::node_count() const { return state_->graph->node_count(); }

Result<std::string> Graph::text(int64_t elements) const {
  return guarded([&]() -> Result<std::string> {
    const std::lock_guard held(state_->lock);
    return ir::print(*state_->graph, nullptr, elements);
  });
}

Result<int64_t> Graph::save_onnx(const std::filesystem::path& path, const OnnxOptions& options) const {
  return guarded([&]() -> Result<int64_t> {
    import::ExportOptions exporting;
    exporting.opset = options.opset;
    exporting.external_data = options.external_data;
    const std::lock_guard held(state_->lock);
    const auto written = import::export_onnx(*state_->graph, path, exporting);
    if (!written) return std::unexpected(public_error(written.error()));
    return written->opset;
  });
}

Result<Engine> compile(const Graph& graph, const CompileOptions& options) {
  return guarded([&] { return compile_graph(copy_of(*graph.state_), options); });
}

Result<std::string> partition(const Graph& graph, const CompileOptions& options, bool build) {
  return guarded([&] { return partition_graph(copy_of(*graph.state_), options, build); });
}

}  // namespace tenon::inline v1
