// SPDX-License-Identifier: Apache-2.0
#include "backends/plugin/plugin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backend/work.h"
#include "backends/plugin/ranges.h"
#include "ops/plugin/plugin_op.h"
#include "plugin/added_graphs.h"
#include "plugin/layout/formats.h"
#include "plugin/saved.h"

namespace tenon::backends {

namespace {

Result<std::vector<plugin::Field>> fields_of(const ir::NodeView& view, const plugin::Op& op) {
  if (op.table.kernel_of) return ops::attributes_as_fields(view);
  return ops::fields_of(view, op);
}

Result<std::unique_ptr<plugin::Object>> object_of(const ir::NodeView& view, const plugin::Op& op) {
  return plugin::Object::create(op, TENON_BUILD, view.where(), TRY(fields_of(view, op)), view.explicit_inputs, view.outputs.size());
}

/// Saved::kMissing where `values` does not contain it.
int32_t index_of(std::span<const ir::ValueId> values, ir::ValueId v) {
  const auto found = std::ranges::find(values, v);
  return found == values.end() ? plugin::Saved::kMissing : static_cast<int32_t>(found - values.begin());
}

/// Where the device finds an operand, as plugin::Saved describes: an input of the segment, or a weight, which is appended to `weights`.
int32_t place_of(const ir::Graph& graph, ir::ValueId v, std::vector<ir::ConstantRef>& weights) {
  if (!v) return plugin::Saved::kMissing;
  if (!graph.value(v).is_constant()) return index_of(graph.inputs(), v);
  weights.push_back(graph.value(v).constant);
  return plugin::Saved::kWeights - static_cast<int32_t>(weights.size() - 1);
}

std::string name_of(const plugin::Op& op) { return op.name_space + "::" + op.name; }

std::vector<plugin::PortType> port_types_of(const ir::NodeView& view) {
  const auto port_type = [](const ir::Type& type) { return plugin::PortType{type.dtype, type.has_rank() ? type.rank() : -1}; };
  std::vector<plugin::PortType> out;
  for (size_t k = 0; k < view.explicit_inputs; ++k) out.push_back(view.has(k) ? port_type(view.type(k)) : plugin::PortType());
  for (const ir::Type& type : view.outputs) out.push_back(port_type(type));
  return out;
}

/// Confirms the layouts with the plugin and tells it the sizes that operands may have.
Result<void> configure(const plugin::Object& object, const ir::NodeView& view, const plugin::Layouts& layouts) {
  TRY(plugin::confirm_format(object, port_types_of(view), layouts));
  return object.configure(Ranges(view, layouts).report());
}

}  // namespace

Result<void> Plugin::supports(const ir::Graph& graph, ir::NodeId node) const {
  const plugin::Op& op = *TRY(runner_of(graph, node));
  TRY(variant_of(graph, node, op, *TRY(object_of(graph.view(node), op))));
  return {};
}

double Plugin::cost(const ir::Graph& graph, ir::NodeId node) const {
  const backend::Work work = backend::work_of(graph, node);
  return std::max(work.steps / 16, work.bytes / 10);
}

Result<backend::Artifact> Plugin::compile(const backend::CompileRequest& request, const backend::Options&) const {
  const ir::Graph& graph = request.graph;
  TENON_ASSERT(graph.node_count() == 1);
  const ir::NodeId node = *graph.nodes().begin();
  const ir::NodeView view = graph.view(node);
  const plugin::Op& op = *TRY(runner_of(graph, node));
  const auto object = TRY(object_of(view, op));
  const PluginVariant variant = TRY(variant_of(graph, node, op, *object));
  TRY(configure(*object, view, variant.layouts));
  const auto value_of = [&](uint32_t operand) -> Result<Tensor> {
    const ir::ValueId v = graph.node(node).inputs[operand];
    if (!v || !graph.value(v).is_constant()) return Tensor();
    return ir::materialise(*graph.value(v).constant);
  };
  std::vector<plugin::AddedGraph> graphs = TRY(plugin::added_graphs(*object, static_cast<uint32_t>(view.explicit_inputs), value_of));
  plugin::Saved saved{.name_space = op.name_space,
                      .name = op.name,
                      .version = op.version,
                      .library = op.library_name,
                      .sha256 = op.sha256,
                      .interface = TENON_PLUGIN_VERSION,
                      .node = view.where(),
                      .fields = TRY(object->save(TRY(fields_of(view, op)))),
                      .results = {},
                      .operands = {},
                      .places = {},
                      .tactic = variant.tactic,
                      .tactic_name = variant.tactic_name,
                      .layouts = variant.layouts,
                      .graphs = static_cast<uint32_t>(graphs.size())};
  backend::Blob blob;
  for (ir::ValueId v : graph.node(node).inputs) saved.operands.push_back(place_of(graph, v, blob.weights));
  for (ir::ValueId v : graph.node(node).outputs) saved.places.push_back(v ? index_of(graph.outputs(), v) : plugin::Saved::kMissing);
  for (const ir::Type& type : view.outputs) saved.results.push_back(type.dtype);
  blob.bytes = plugin::encode(saved);
  for (plugin::AddedGraph& added : graphs) {
    auto& inner = blob.graphs.emplace_back();
    inner.text = std::move(added.text);
    inner.place = fmt::format("{}, {}, inner graph {}", view.where(), op.place(), blob.graphs.size() - 1);
    for (Tensor& t : added.constants) inner.constants.push_back(ir::constant_of(std::move(t)));
  }
  return blob;
}

std::shared_ptr<const Plugin> Plugin::with(PluginChoices choices) const {
  std::shared_ptr<Plugin> out(new Plugin(*this));
  out->choices_ = std::make_shared<const PluginChoices>(std::move(choices));
  return out;
}

const PluginChoice* Plugin::choice_of(const ir::Graph& graph, ir::NodeId node) const {
  if (!choices_ || choices_->empty()) return nullptr;
  const auto found = choices_->find(key_of(graph, node));
  return found == choices_->end() ? nullptr : &found->second;
}

bool Plugin::is_preferred(const plugin::Op& op) const { return std::ranges::find(preferred_, name_of(op)) != preferred_.end(); }

const plugin::Op* Plugin::kernel_of(const ir::Op& op) const {
  const plugin::Op* found = nullptr;  // the first one, or one that the user prefers
  const std::string name = op.domain.empty() ? op.name : op.domain + "::" + op.name;
  if (plugins_)
    for (const plugin::Op* k : plugins_->ops())
      if (k->table.kernel_of && k->table.kernel_of == name && (!found || is_preferred(*k))) found = k;
  return found;
}

const plugin::Op* Plugin::op_for(const ir::NodeView& view) const {
  const ops::PluginOp* const own = ops::plugin_of(*view.op);
  if (!own) return kernel_of(*view.op);
  return own->op().runs() ? &own->op() : nullptr;
}

bool Plugin::is_chosen_by_user(const plugin::Op& op) const { return is_preferred(op) || tactics_.contains(name_of(op)); }

std::string Plugin::choice_text(const ir::Graph& graph, ir::NodeId node) const {
  const PluginChoice* const choice = choice_of(graph, node);
  if (!choice) return {};
  return choice->variant ? choice->variant->text(graph.view(node).explicit_inputs) : "others run it";
}

Result<const plugin::Op*> Plugin::runner_of(const ir::Graph& graph, ir::NodeId node) const {
  const ir::NodeView view = graph.view(node);
  const auto refuse = [&](std::string why) { return fail(Code::not_supported, view.where(), std::move(why)); };
  const plugin::Op* const op = op_for(view);
  const bool is_own = ops::plugin_of(*view.op) != nullptr;
  if (!op)
    return refuse(is_own ? "the plugin has a definition and no `enqueue`" : "it is no op of a plugin, and no plugin has a kernel of it");
  if (const PluginChoice* const choice = choice_of(graph, node)) {
    if (choice->variant) return op;
    return refuse(choice->why);
  }
  if (!is_own && ops::def_of(*view.op).definition && !is_preferred(*op))
    return refuse(fmt::format("{0} is a kernel of it, and Tenon compiles it; --prefer {0} takes the plugin's", name_of(*op)));
  return op;
}

Result<PluginVariant> Plugin::variant_of(const ir::Graph& graph, ir::NodeId node, const plugin::Op& op,
                                         const plugin::Object& object) const {
  if (const PluginChoice* const choice = choice_of(graph, node)) return *choice->variant;
  const ir::NodeView view = graph.view(node);
  const auto layouts = TRY(plugin::formats_of(object, port_types_of(view), view.explicit_inputs, 1));
  PluginVariant out{.tactic = 0, .tactic_name = {}, .layouts = layouts[0]};
  if (!tactics_.contains(name_of(op))) return out;
  TRY(configure(object, view, out.layouts));
  const tenon_tactic tactic = TRY(selected_tactics(op, object))[0];
  out.tactic = tactic.id;
  if (tactic.name) out.tactic_name = tactic.name;
  return out;
}

Result<std::vector<tenon_tactic>> Plugin::selected_tactics(const plugin::Op& op, const plugin::Object& object) const {
  std::vector<tenon_tactic> all = TRY(object.tactics());
  all.insert(all.begin(), tenon_tactic{0, nullptr});
  const auto wanted = tactics_.find(name_of(op));
  if (wanted == tactics_.end()) return all;
  const auto found = std::ranges::find(all, wanted->second, &tenon_tactic::id);
  if (found != all.end()) return std::vector{*found};
  std::vector<int32_t> ids;
  for (const tenon_tactic& t : all) ids.push_back(t.id);
  return fail(Code::bad_usage, fmt::format("plugin-tactic {}={}", name_of(op), wanted->second), "the plugin does not offer this tactic")
      .expected(fmt::format("one of {}", fmt::join(ids, ", ")))
      .found(std::to_string(wanted->second))
      .advice("0 is the plugin's own choice");
}

Result<std::vector<PluginVariant>> Plugin::variants(const ir::NodeView& view, const plugin::Op& op, size_t formats) const {
  const auto object = TRY(object_of(view, op));
  std::vector<PluginVariant> out;
  for (const plugin::Layouts& layouts : TRY(plugin::formats_of(*object, port_types_of(view), view.explicit_inputs, formats))) {
    TRY(configure(*object, view, layouts));
    for (const tenon_tactic& t : TRY(selected_tactics(op, *object))) out.push_back({t.id, t.name ? t.name : "", layouts});
  }
  return out;
}

BACKEND(plugin) { return std::make_unique<Plugin>(libraries); }

}  // namespace tenon::backends
