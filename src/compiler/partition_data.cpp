// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition_data.h"

#include "compiler/measured_data.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "backend/work.h"
#include "base/threads/thread_pool.h"
#include "compiler/shapes/default_shapes.h"
#include "ir/module_path.h"
#include "partition/names.h"

namespace tenon::compiler {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kNoBound = int64_t{1} << 40;  // what ir::Symbols gives a symbol of which nothing is known

std::string_view name_of(const partition::Roles& roles, uint16_t backend) { return roles.backends[backend]->name(); }

Json node_data(const ir::Graph& graph, const partition::NodePlacement& placement, const partition::Roles& roles) {
  const ir::Node& node = graph.node(placement.node);
  Json reasons = Json::array();
  for (const partition::Reason& r : placement.reasons) reasons.push_back({{"code", r.code}, {"text", r.text}});
  Json out = {{"name", placement.name},        {"op", partition::op_name(*node.op)},
              {"module", ir::module_of(node)}, {"backend", name_of(roles, placement.backend)},
              {"segment", placement.segment},  {"works", placement.does_work},
              {"reasons", std::move(reasons)}};
  if (node.provenance && !node.provenance->sources.empty()) out["sources"] = node.provenance->sources;
  for (size_t b = 0; b < placement.bodies.size(); ++b)
    out["bodies"].push_back(placement_data(*node.bodies[b].graph, placement.bodies[b], roles));
  return out;
}

double guess_us(const ir::Graph& graph, const partition::Partition& partition, uint32_t segment, const partition::Roles& roles) {
  double ns = 0;
  for (ir::NodeId n : partition.segments[segment].nodes) ns += roles.backends[partition.backends[segment]]->cost(graph, n);
  return ns / 1000;
}

Json names_of_values(const partition::Names& names, std::span<const ir::ValueId> values) {
  Json out = Json::array();
  for (ir::ValueId v : values) out.push_back(names.value(v));
  return out;
}

Json segments_data(const ir::Graph& graph, const partition::Partition& partition, const partition::Names& names,
                   const partition::Roles& roles) {
  Json out = Json::array();
  for (uint32_t s = 0; s < partition.segments.size(); ++s) {
    const ir::Segment& segment = partition.segments[s];
    Json nodes = Json::array();
    for (ir::NodeId n : segment.nodes) nodes.push_back(names.node(n));
    out.push_back({{"id", s},
                   {"backend", segment.backend},
                   {"nodes", std::move(nodes)},
                   {"inputs", names_of_values(names, segment.operands)},
                   {"outputs", names_of_values(names, segment.results)},
                   {"us", guess_us(graph, partition, s, roles)}});
  }
  return out;
}

bool sized_by_inputs(const ir::Dependencies& dependencies, const ir::Type& type) {
  bool known = type.is_tensor() && type.has_rank();
  if (known)
    for (Dim d : *type.shape) each_symbol(d, [&](const DimNode& s) { known &= !dependencies.definition_of(s); });
  return known;
}

/// A backend with a memory of its own gives each result to the others once, and is brought each operand by each of its segments.
Json borders_data(const ir::Graph& graph, const partition::Partition& partition, const partition::Names& names,
                  const partition::Roles& roles) {
  Json out = Json::array();
  std::set<ir::ValueId> given;
  const ir::Dependencies dependencies(graph);
  for (const partition::Border& b : partition.borders) {
    const ir::Value& value = graph.value(b.value);
    const backend::Overheads from = roles.backends[partition.backends[b.from]]->overheads();
    const backend::Overheads to = roles.backends[partition.backends[b.to]]->overheads();
    int copies = 0;
    double ns = 0;
    const auto add = [&](const backend::Overheads& of) {
      ++copies;
      ns += of.copy_ns + of.copy_ns_per_byte * backend::bytes_of(value.type);
    };
    if (from.own_memory && given.insert(b.value).second) add(from);
    if (from.own_results && sized_by_inputs(dependencies, value.type) && given.insert(b.value).second) ++copies;
    if (to.own_memory) add(to);
    const std::optional<int64_t> bytes = backend::max_bytes(value.type);
    out.push_back({{"value", names.value(b.value)},
                   {"from", b.from},
                   {"to", b.to},
                   {"shape", shape_text(value.type)},
                   {"bytes", bytes ? Json(*bytes) : Json()},
                   {"copies", copies},
                   {"us", ns / 1000}});
  }
  return out;
}

/// The sizes that guesses of times take for symbols of the inputs, by name.
Json guessed_sizes(const ir::Graph& graph) {
  Json out = Json::object();
  for (const ir::ValueId input : graph.inputs()) {
    const ir::Type& type = graph.value(input).type;
    if (!type.is_tensor() || !type.has_rank()) continue;
    for (Dim d : *type.shape) each_symbol(d, [&](const DimNode& s) { out[s.name] = backend::guessed_size(s); });
  }
  return out;
}

/// Adds the fields that only a build determines: peak_bytes and handed_back.
void add_build(Json& out, const Compiled& built, const std::vector<import::RequestedShape>& shapes) {
  const program::LinkedPrograms& b = built.built;
  if (const auto planned = runtime::planned_bytes(b.programs, default_shapes(b.programs[0].inputs, shapes)))
    out["peak_bytes"] = planned->peak(default_thread_pool().size());
  for (const partition::FailedSegment& h : built.failed_segments)
    out["handed_back"].push_back({{"segment", h.segment}, {"backend", h.backend}, {"error", h.error}});
}

}  // namespace

std::string shape_text(const ir::Type& type) {
  if (!type.is_tensor() || !type.has_rank()) return type.text();
  std::string dims;
  std::map<std::string, std::string> intervals;
  for (Dim d : *type.shape) {
    dims += (dims.empty() ? "" : ", ") + d.text();
    each_symbol(d, [&](const DimNode& s) {
      if (s.lower > 1 || s.upper < kNoBound) intervals[s.name] = fmt::format("{} in {}..{}", s.name, s.lower, s.upper);
    });
  }
  std::string out = "[" + dims + "]";
  for (const auto& [name, text] : intervals) out += "; " + text;
  return out;
}

Json placement_data(const ir::Graph& graph, const partition::Partition& partition, const partition::Roles& roles) {
  Json out = Json::object();
  const partition::Names names(graph, partition);
  out["segments"] = segments_data(graph, partition, names, roles);
  out["nodes"] = Json::array();
  for (const partition::NodePlacement& n : partition.nodes) out["nodes"].push_back(node_data(graph, n, roles));
  out["borders"] = borders_data(graph, partition, names, roles);
  out["lower_bound"] = partition.lower_bound;
  out["proved"] = partition.proved();
  if (partition.predicted)
    out["predicted"] = {{"us", partition.predicted->ns / 1000}, {"least_us", partition.predicted->lower_bound_ns / 1000}};
  if (partition.stopped_after_visits > 0) out["search_given_up_after"] = partition.stopped_after_visits;
  out["accelerated_share"] = partition.accelerated_share(roles);
  return out;
}

Json costs_data(const backend::Overheads& costs) {
  return {{"launch_ns", costs.launch_ns},
          {"own_memory", costs.own_memory},
          {"copy_ns", costs.copy_ns},
          {"copy_ns_per_byte", costs.copy_ns_per_byte},
          {"source", backend::name_of(costs.source)}};
}

std::string costs_text(const backend::Overheads& costs) {
  std::string out = fmt::format("{:.2f} us", costs.launch_ns / 1000);
  if (costs.own_memory) out += fmt::format(", a copy {:.2f} us and {:.3f} ns a byte", costs.copy_ns / 1000, costs.copy_ns_per_byte);
  return out + fmt::format(" ({})", backend::name_of(costs.source));
}

Json partition_data(const ir::Graph& graph, const partition::Partition& partition, const partition::Roles& roles, partition::Assign assign,
                    const std::vector<partition::WhatIf>& what_if, std::span<const plugin::MeasuredNode> measured, const Compiled* built,
                    const std::vector<import::RequestedShape>& shapes) {
  Json out = placement_data(graph, partition, roles);
  out["guessed_at"] = guessed_sizes(graph);
  out["peak_bytes"] = nullptr;
  out["handed_back"] = Json::array();
  out["what_if"] = Json::array();
  for (const partition::WhatIf& w : what_if) {
    Json row = {{"op", w.op}, {"borders_removed", w.borders_removed}, {"segments", w.segments}};
    if (!w.blocked_by.empty()) row["blocked_by"] = w.blocked_by;
    out["what_if"].push_back(std::move(row));
  }
  if (assign == partition::Assign::cost)
    for (const backend::Backend* b : roles.backends) {
      out["costs"].push_back({{"backend", b->name()}});
      out["costs"].back().update(costs_data(b->overheads()));
    }
  if (built) add_build(out, *built, shapes);
  out["plugin_times"] = measured_data(measured);
  return out;
}

}  // namespace tenon::compiler
