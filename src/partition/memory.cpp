// SPDX-License-Identifier: Apache-2.0
#include "partition/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "backend/work.h"

namespace tenon::partition {

namespace {

/// What a backend holds.
struct Store {
  std::optional<double> limit;
  double weights = 0, largest = 0;
  double least = 0;  ///< of the nodes that found no room: the smallest
  size_t held = 0;
  bool full = false;  ///< a node that fits alone found no room: what comes behind it is not scattered over the gaps
  std::unordered_set<const ir::Constant*> known;

  double used() const { return weights + largest; }
};

class Memory {
 public:
  Memory(const ir::Graph& graph, std::vector<NodeShare>& nodes, const Roles& roles, const Wishes& wishes)
      : graph_(graph), nodes_(nodes), roles_(roles), wishes_(wishes), stores_(roles.count()) {}

  Result<void> run() {
    for (const MemoryLimit& limit : wishes_.memory) TRY(set(limit));
    for (NodeShare& n : nodes_)
      if (n.stays && !put(n, n.wanted)) return pins_do_not_fit(n);
    for (NodeShare& n : nodes_)
      if (!n.stays && !put(n, n.wanted)) move(n);
    for (uint16_t b = 0; b < roles_.count(); ++b)
      if (stores_[b].limit && stores_[b].held == 0 && stores_[b].least > 0) return nothing_fits(b);
    return {};
  }

 private:
  Result<void> set(const MemoryLimit& limit) {
    std::vector<std::string> names;
    for (uint16_t b = 0; b < roles_.fallback(); ++b) names.emplace_back(roles_.backends[b]->name());
    const auto at = std::ranges::find(names, limit.backend);
    if (at == names.end())
      return fail(Code::bad_usage, "--memory", fmt::format("'{}' is no accelerated backend of this build", limit.backend))
          .expected(names.empty() ? "a backend that another one stands behind" : fmt::format("one of: {}", fmt::join(names, ", ")))
          .found(limit.backend);
    Store& store = stores_[static_cast<size_t>(at - names.begin())];
    if (store.limit) return fail(Code::bad_usage, "--memory", "a backend has one limit").expected("each name once").found(limit.backend);
    store.limit = static_cast<double>(limit.bytes);
    return {};
  }

  /// What the node adds to a backend's weights, and what it needs beside them.
  std::pair<double, double> needs(const NodeShare& n, const Store& store) const {
    const ir::Node& node = graph_.node(n.node);
    double weights = 0, values = 0;
    std::unordered_set<const ir::Constant*> counted;
    for (ir::ValueId v : node.inputs) {
      if (!v) continue;
      const ir::Value& value = graph_.value(v);
      if (!value.is_constant()) values += most_of(value.type);
      else if (!store.known.contains(value.constant.get()) && counted.insert(value.constant.get()).second)
        weights += static_cast<double>(value.constant->byte_size());
    }
    for (ir::ValueId v : node.outputs)
      if (v) values += most_of(graph_.value(v).type);
    return {weights, values};
  }

  static double most_of(const ir::Type& type) {
    const auto bytes = backend::most_bytes(type);
    return bytes ? static_cast<double>(*bytes) : backend::bytes_of(type);
  }

  bool put(const NodeShare& n, uint16_t backend) {
    Store& store = stores_[backend];
    if (!store.limit) return true;
    if (store.full && !n.stays) return false;
    const auto [weights, values] = needs(n, store);
    const double all = store.weights + weights + std::max(store.largest, values);
    if (all > *store.limit) {
      store.full |= weights + values <= *store.limit;
      store.least = store.least > 0 ? std::min(store.least, weights + values) : weights + values;
      return false;
    }
    store.weights += weights;
    store.largest = std::max(store.largest, values);
    ++store.held;
    for (ir::ValueId v : graph_.node(n.node).inputs)
      if (v && graph_.value(v).is_constant()) store.known.insert(graph_.value(v).constant.get());
    return true;
  }

  void move(NodeShare& n) {
    const uint16_t from = n.wanted;
    uint16_t to = n.falls_to;
    for (uint16_t b : n.choices)
      if (b > from && b != n.falls_to && put(n, b)) {
        to = b;
        break;
      }
    n.wanted = n.backend = to;
    n.reasons.push_back(
        {"over_budget", fmt::format("{} has no room for it in its {:.0f} bytes", roles_.backends[from]->name(), *stores_[from].limit)});
  }

  Error pins_do_not_fit(const NodeShare& n) const {
    const Store& store = stores_[n.wanted];
    return fail(Code::bad_usage, "--memory", fmt::format("what stays on '{}' does not fit there", roles_.backends[n.wanted]->name()))
        .expected(fmt::format("at least {:.0f} bytes", store.used() + store.least))
        .found(fmt::format("{:.0f}, at node '{}'", *store.limit, n.name));
  }

  Error nothing_fits(uint16_t backend) const {
    return fail(Code::bad_usage, "--memory", fmt::format("not one node fits on '{}'", roles_.backends[backend]->name()))
        .expected(fmt::format("at least {:.0f} bytes", stores_[backend].least))
        .found(fmt::format("{:.0f}", *stores_[backend].limit))
        .advice("leave the backend out");
  }

  const ir::Graph& graph_;
  std::vector<NodeShare>& nodes_;
  const Roles& roles_;
  const Wishes& wishes_;
  std::vector<Store> stores_;
};

}  // namespace

Result<void> keep_memory(const ir::Graph& graph, std::vector<NodeShare>& nodes, const Roles& roles, const Wishes& wishes) {
  return wishes.memory.empty() ? Result<void>() : Memory(graph, nodes, roles, wishes).run();
}

}  // namespace tenon::partition
