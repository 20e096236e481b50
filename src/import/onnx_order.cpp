// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_order.h"

#include <numeric>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "import/onnx_support.h"

namespace tenon::import {
namespace {

std::string place_of(const OnnxNode& node) { return fmt::format("node '{}' ({})", node.name, qualified(node.domain, node.op)); }

void each_name_read(const OnnxNode& node, const std::function<void(std::string_view)>& visit) {
  for (std::string_view name : node.inputs)
    if (!name.empty()) visit(name);
  for (const OnnxAttribute& a : node.attributes)
    if (a.graph) each_free_name(*a.graph, visit);
}

using Producers = std::unordered_map<std::string_view, uint32_t>;

Result<Producers> producers_of(const std::vector<OnnxNode>& nodes) {
  Producers out;
  for (uint32_t i = 0; i < nodes.size(); ++i)
    for (std::string_view name : nodes[i].outputs)
      if (!name.empty() && !out.emplace(name, i).second)
        return fail(Code::bad_graph, place_of(nodes[i]), fmt::format("value '{}' is made twice", name))
            .expected("one node for each name")
            .found("also by " + place_of(nodes[out[name]]));
  return out;
}

/// Kahn's algorithm: the nodes in topological order, of several ready ones the first by position. waits: for each node the number of its
/// predecessors that are not in the order yet; after the call it is above 0 for nodes on a cycle and those after it.
std::vector<uint32_t> drain(const std::vector<std::vector<uint32_t>>& users, std::vector<uint32_t>& waits) {
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < waits.size(); ++i)
    if (waits[i] == 0) ready.push(i);
  std::vector<uint32_t> order;
  while (!ready.empty()) {
    const uint32_t i = ready.top();
    ready.pop();
    order.push_back(i);
    for (uint32_t user : users[i])
      if (--waits[user] == 0) ready.push(user);
  }
  return order;
}

/// Kahn's algorithm with a heap by file position.
Result<std::vector<uint32_t>> sort(const std::vector<OnnxNode>& nodes, const Producers& producers) {
  std::vector<std::vector<uint32_t>> users(nodes.size());
  std::vector<uint32_t> waits(nodes.size(), 0);
  for (uint32_t i = 0; i < nodes.size(); ++i)
    each_name_read(nodes[i], [&](std::string_view name) {
      auto at = producers.find(name);
      if (at == producers.end()) return;
      users[at->second].push_back(i);
      ++waits[i];
    });
  const std::vector<uint32_t> order = drain(users, waits);
  if (order.size() == nodes.size()) return order;
  for (uint32_t i = 0; i < nodes.size(); ++i)
    if (waits[i] != 0)
      return fail(Code::bad_graph, place_of(nodes[i]), "the graph has a cycle")
          .expected("no node that depends on its own result")
          .found(fmt::format("nodes on or after a cycle: {}", nodes.size() - order.size()));
  return order;
}

}  // namespace

void each_free_name(const OnnxGraph& body, const std::function<void(std::string_view)>& visit) {
  std::unordered_set<std::string_view> own;
  for (const OnnxValueInfo& i : body.inputs) own.insert(i.name);
  for (const OnnxTensor& t : body.initializers) own.insert(t.name);
  for (const OnnxSparse& s : body.sparse_initializers) own.insert(s.values.name);
  for (const OnnxNode& n : body.nodes) own.insert(n.outputs.begin(), n.outputs.end());
  const auto outer = [&](std::string_view name) {
    if (!own.contains(name)) visit(name);
  };
  for (const OnnxNode& n : body.nodes) each_name_read(n, outer);
  for (const OnnxValueInfo& o : body.outputs) outer(o.name);
}

Result<std::vector<uint32_t>> order_of(const std::vector<OnnxNode>& nodes) {
  const Producers producers = TRY(producers_of(nodes));
  bool sorted = true;
  for (uint32_t i = 0; i < nodes.size() && sorted; ++i)
    each_name_read(nodes[i], [&](std::string_view name) {
      auto at = producers.find(name);
      if (at != producers.end() && at->second >= i) sorted = false;
    });
  if (!sorted) return sort(nodes, producers);
  std::vector<uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace tenon::import
