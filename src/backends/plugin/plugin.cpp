// SPDX-License-Identifier: Apache-2.0
// Runs nodes of plugins that compute them by functions of their own. A segment is one node; what its object is made from travels in the
// blob.
#include <fmt/format.h>

#include <algorithm>

#include "backend/backend.h"
#include "backend/work.h"
#include "backends/plugin/ranges.h"
#include "ops/plugin/plugin_op.h"
#include "plugin/added_graphs.h"
#include "plugin/registry.h"
#include "plugin/saved.h"

namespace tenon::backends {

namespace {

class Plugin final : public backend::Backend {
 public:
  explicit Plugin(const runtime::Libraries& libraries) : plugins_(libraries.plugins), preferred_(libraries.preferred_plugins) {}
  std::string_view name() const override { return "plugin"; }
  std::string_view docs() const override { return "ops of plugin libraries (--plugin LIB), by their own functions"; }

  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    const ir::NodeView view = graph.view(node);
    const plugin::Op* const op = TRY(runner_of(view));
    return TRY(object_of(view, *op))->supports(formats_of(view));
  }

  /// A guess: as fast as our own kernels.
  double cost(const ir::Graph& graph, ir::NodeId node) const override {
    const backend::Work work = backend::work_of(graph, node);
    return std::max(work.steps / 16, work.bytes / 10);
  }
  backend::Overheads overheads() const override { return {.launch = 100}; }
  bool one_node_a_segment() const override { return true; }

  Result<backend::Artifact> compile(const backend::Share& share, const backend::Options&) const override {
    const ir::Graph& graph = share.graph;
    TENON_ASSERT(graph.node_count() == 1);
    const ir::NodeId node = *graph.nodes().begin();
    const ir::NodeView view = graph.view(node);
    const plugin::Op& op = *TRY(runner_of(view));
    const auto object = TRY(object_of(view, op));
    TRY(object->configure(Ranges(view).told()));
    const auto value_of = [&](uint32_t operand) -> Result<Tensor> {
      const ir::ValueId v = graph.node(node).inputs[operand];
      if (!v || !graph.value(v).is_constant()) return Tensor();
      return ir::materialise(*graph.value(v).constant);
    };
    std::vector<plugin::AddedGraph> graphs = TRY(plugin::added_graphs(*object, static_cast<uint32_t>(view.explicit_inputs), value_of));
    plugin::Saved saved{.name_space = op.name_space,
                        .name = op.name,
                        .version = op.version,
                        .library = op.library,
                        .sha256 = op.sha256,
                        .interface = TENON_PLUGIN_VERSION,
                        .node = view.where(),
                        .fields = TRY(object->save(TRY(fields_of(view, op)))),
                        .results = {},
                        .operands = {},
                        .places = {},
                        .graphs = static_cast<uint32_t>(graphs.size())};
    backend::Blob blob;
    for (ir::ValueId v : graph.node(node).inputs) saved.operands.push_back(place_of(graph, v, blob.weights));
    for (ir::ValueId v : graph.node(node).outputs) saved.places.push_back(v ? index_of(graph.outputs(), v) : plugin::Saved::kMissing);
    for (const ir::Type& type : view.outputs) saved.results.push_back(type.dtype);
    blob.bytes = plugin::encode(saved);
    for (plugin::AddedGraph& added : graphs) {
      auto& to = blob.graphs.emplace_back();
      to.text = std::move(added.text);
      to.place = fmt::format("{}, {}, inner graph {}", view.where(), op.place(), blob.graphs.size() - 1);
      for (Tensor& t : added.constants) to.constants.push_back(ir::constant_of(std::move(t)));
    }
    return blob;
  }

 private:
  bool is_preferred(const plugin::Op& op) const {
    return std::ranges::find(preferred_, op.name_space + "::" + op.name) != preferred_.end();
  }

  /// Whose function computes the node: the plugin that the op is of, else a kernel that a plugin has for it, a preferred one first. Errors:
  /// not_supported.
  Result<const plugin::Op*> runner_of(const ir::NodeView& view) const {
    const auto refuse = [&](std::string why) { return fail(Code::not_supported, view.where(), std::move(why)); };
    if (const ops::PluginOp* const op = ops::plugin_of(*view.op)) {
      if (!op->op().runs()) return refuse("the plugin has a definition and no `enqueue`");
      return &op->op();
    }
    const plugin::Op* const kernel = kernel_of(*view.op);
    if (!kernel) return refuse("it is no op of a plugin, and no plugin has a kernel of it");
    if (ops::def_of(*view.op).definition && !is_preferred(*kernel))
      return refuse(fmt::format("{0}::{1} is a kernel of it, and Tenon compiles it; --prefer {0}::{1} takes the plugin's",
                                kernel->name_space, kernel->name));
    return kernel;
  }

  const plugin::Op* kernel_of(const ir::Op& op) const {
    const plugin::Op* found = nullptr;
    const std::string name = op.domain.empty() ? op.name : op.domain + "::" + op.name;
    if (plugins_)
      for (const plugin::Op* k : plugins_->ops())
        if (k->table.kernel_of && k->table.kernel_of == name && (!found || is_preferred(*k))) found = k;
    return found;
  }

  static Result<std::vector<plugin::Field>> fields_of(const ir::NodeView& view, const plugin::Op& op) {
    if (op.table.kernel_of) return ops::attributes_as_fields(view);
    return ops::fields_of(view, op);
  }
  static Result<std::unique_ptr<plugin::Object>> object_of(const ir::NodeView& view, const plugin::Op& op) {
    return plugin::Object::create(op, TENON_BUILD, view.where(), TRY(fields_of(view, op)), view.explicit_inputs, view.outputs.size());
  }

  static int32_t index_of(std::span<const ir::ValueId> values, ir::ValueId v) {
    const auto found = std::ranges::find(values, v);
    return found == values.end() ? plugin::Saved::kMissing : static_cast<int32_t>(found - values.begin());
  }

  static int32_t place_of(const ir::Graph& graph, ir::ValueId v, std::vector<ir::ConstantRef>& weights) {
    if (!v) return plugin::Saved::kMissing;
    if (!graph.value(v).is_constant()) return index_of(graph.inputs(), v);
    weights.push_back(graph.value(v).constant);
    return plugin::Saved::kWeights - static_cast<int32_t>(weights.size() - 1);
  }

  static std::vector<tenon_format> formats_of(const ir::NodeView& view) {
    std::vector<tenon_format> out;
    for (size_t k = 0; k < view.explicit_inputs; ++k)
      out.push_back({static_cast<int32_t>(view.has(k) ? view.type(k).dtype : DType::none), TENON_ROW_MAJOR});
    for (const ir::Type& type : view.outputs) out.push_back({static_cast<int32_t>(type.dtype), TENON_ROW_MAJOR});
    return out;
  }

  std::shared_ptr<const plugin::Registry> plugins_;
  std::vector<std::string> preferred_;
};

}  // namespace

BACKEND(plugin) { return std::make_unique<Plugin>(libraries); }

}  // namespace tenon::backends
