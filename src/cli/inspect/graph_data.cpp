// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/graph_data.h"

#include <fmt/format.h>

#include "cli/rewrite/excerpt.h"
#include "ir/module_path.h"
#include "ir/repeats.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;
using compiler::GroupsOfNodes;

class GraphData {
 public:
  GraphData(Json& graphs, const ir::Graph& graph, const GroupsOfNodes* groups) : graphs_(graphs), g_(graph), groups_(groups) {}

  size_t append(const std::string& name) {
    at_ = graphs_.size();
    graphs_.push_back(nullptr);  // bodies come after it
    for (ir::ValueId v : g_.inputs()) terminal("input", g_.value(v).name, {}, v);
    for (ir::NodeId n : g_.nodes()) node(n);
    for (uint32_t k = 0; k < g_.outputs().size(); ++k) terminal("output", g_.output_name(k), g_.outputs()[k], {});
    Json folds = Json::array();
    for (const ir::Repeat& r : ir::find_repeats(g_))
      folds.push_back({{"first", r.first + g_.inputs().size()}, {"period", r.period}, {"count", r.count}});
    graphs_[at_] = {{"name", name}, {"values", values_}, {"nodes", nodes_}, {"folds", folds}, {"groups", Json::array()}};
    return at_;
  }

 private:
  int64_t number(ir::ValueId id) {
    if (!id) return -1;
    const auto [place, fresh] = numbers_.try_emplace(id, static_cast<int64_t>(values_.size()));
    if (!fresh) return place->second;
    const ir::Value& value = g_.value(id);
    Json out{{"name", value.name}, {"type", value.type.text()}};
    if (value.is_constant()) out["constant"] = elements_shown(g_, id);
    values_.push_back(std::move(out));
    return place->second;
  }

  Json numbers(auto ids) {
    Json out = Json::array();
    for (ir::ValueId v : ids) out.push_back(number(v));
    return out;
  }

  void terminal(const char* kind, const std::string& name, ir::ValueId in, ir::ValueId out) {
    Json item{{"op", kind}, {"kind", kind}, {"name", name}, {"in", Json::array()}, {"out", Json::array()}};
    if (in) item["in"].push_back(number(in));
    if (out) item["out"].push_back(number(out));
    nodes_.push_back(std::move(item));
  }

  void node(ir::NodeId id) {
    const ir::Node& n = g_.node(id);
    Json item{{"op", n.op->domain.empty() ? n.op->name : n.op->domain + "::" + n.op->name}, {"name", n.name}};
    if (std::string module = ir::module_of(n); !module.empty()) item["module"] = std::move(module);
    for (const auto& [name, value] : n.attributes) item["attributes"].push_back(name + "=" + ir::text_of(value));
    item["in"] = numbers(std::span(n.inputs));
    item["out"] = numbers(std::span(n.outputs));
    for (const ir::Body& body : n.bodies) {
      const size_t inner = append_graph(graphs_, *body.graph, fmt::format("{} {}", n.op->name, body.name));
      graphs_[inner]["inside"] = at_;
      item["bodies"].push_back(inner);
    }
    if (n.provenance && !n.provenance->rule.empty()) item["rule"] = n.provenance->rule;
    if (n.provenance && !n.provenance->sources.empty()) item["from"] = n.provenance->sources;
    if (const auto found = groups_ ? groups_->find(id) : GroupsOfNodes::const_iterator(); groups_ && found != groups_->end())
      item["groups"] = found->second;
    nodes_.push_back(std::move(item));
  }

  Json& graphs_;
  const ir::Graph& g_;
  const GroupsOfNodes* groups_;
  size_t at_ = 0;
  Json values_ = Json::array(), nodes_ = Json::array();
  std::unordered_map<ir::ValueId, int64_t> numbers_;
};

}  // namespace

size_t append_graph(Json& graphs, const ir::Graph& graph, const std::string& name, const compiler::GroupsOfNodes* groups) {
  return GraphData(graphs, graph, groups).append(name);
}

}  // namespace tenon::cli
