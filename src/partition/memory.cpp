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
  size_t placed = 0;
  bool full = false;  ///< a node that fits alone found no room: what comes after it is not scattered over the gaps
  std::unordered_set<const ir::Constant*> known;

  double used() const { return weights + largest; }
};

class Memory {
 public:
  Memory(const ir::Graph& graph, const Units& units, std::vector<NodePlacement>& nodes, const Roles& roles, const Constraints& constraints)
      : graph_(graph), units_(units), nodes_(nodes), roles_(roles), constraints_(constraints), stores_(roles.count()) {}

  Result<void> run() {
    for (const MemoryLimit& limit : constraints_.memory) TRY(set(limit));
    for (uint32_t unit = 0; unit < units_.size(); ++unit)
      if (first(unit).stays && !put(unit, first(unit).wanted)) return pins_do_not_fit(first(unit));
    for (uint32_t unit = 0; unit < units_.size(); ++unit)
      if (!first(unit).stays && !put(unit, first(unit).wanted)) move(unit);
    for (uint16_t b = 0; b < roles_.count(); ++b)
      if (stores_[b].limit && stores_[b].placed == 0 && stores_[b].least > 0) return nothing_fits(b);
    return {};
  }

 private:
  Result<void> set(const MemoryLimit& limit) {
    std::vector<std::string> names;
    for (uint16_t b = 0; b < roles_.fallback(); ++b) names.emplace_back(roles_.backends[b]->name());
    const auto at = std::ranges::find(names, limit.backend);
    if (at == names.end())
      return fail(Code::bad_usage, "memory", fmt::format("'{}' is no accelerated backend of this build", limit.backend))
          .expected(names.empty() ? "a backend that another one comes after" : fmt::format("one of: {}", fmt::join(names, ", ")))
          .found(limit.backend);
    Store& store = stores_[static_cast<size_t>(at - names.begin())];
    if (store.limit) return fail(Code::bad_usage, "memory", "a backend has one limit").expected("each name once").found(limit.backend);
    store.limit = static_cast<double>(limit.bytes);
    return {};
  }

  /// The nodes of a unit stay or go together.
  const NodePlacement& first(uint32_t unit) const { return nodes_[units_.nodes(unit)[0]]; }

  /// What the unit adds to a backend's weights, and what its largest node needs in addition to them.
  std::pair<double, double> needs(uint32_t unit, const Store& store) const {
    double weights = 0, values = 0;
    std::unordered_set<const ir::Constant*> counted;
    for (uint32_t n : units_.nodes(unit)) {
      const auto [more, own] = needs(graph_.node(nodes_[n].node), store, counted);
      weights += more;
      values = std::max(values, own);
    }
    return {weights, values};
  }
  std::pair<double, double> needs(const ir::Node& node, const Store& store, std::unordered_set<const ir::Constant*>& counted) const {
    double weights = 0, values = 0;
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

  bool put(uint32_t unit, uint16_t backend) {
    Store& store = stores_[backend];
    if (!store.limit) return true;
    if (store.full && !first(unit).stays) return false;
    const auto [weights, values] = needs(unit, store);
    const double all = store.weights + weights + std::max(store.largest, values);
    if (all > *store.limit) {
      store.full |= weights + values <= *store.limit;
      store.least = store.least > 0 ? std::min(store.least, weights + values) : weights + values;
      return false;
    }
    store.weights += weights;
    store.largest = std::max(store.largest, values);
    ++store.placed;
    for (uint32_t n : units_.nodes(unit))
      for (ir::ValueId v : graph_.node(nodes_[n].node).inputs)
        if (v && graph_.value(v).is_constant()) store.known.insert(graph_.value(v).constant.get());
    return true;
  }

  void move(uint32_t unit) {
    const uint16_t from = first(unit).wanted;
    uint16_t to = first(unit).falls_to;
    for (uint16_t b : first(unit).choices)
      if (b > from && b != first(unit).falls_to && put(unit, b)) {
        to = b;
        break;
      }
    for (uint32_t n : units_.nodes(unit)) {
      nodes_[n].wanted = nodes_[n].backend = to;
      nodes_[n].reasons.push_back(
          {"over_budget", fmt::format("{} has no room for it in its {:.0f} bytes", roles_.backends[from]->name(), *stores_[from].limit)});
    }
  }

  Error pins_do_not_fit(const NodePlacement& n) const {
    const Store& store = stores_[n.wanted];
    return fail(Code::bad_usage, "memory", fmt::format("what stays on '{}' does not fit there", roles_.backends[n.wanted]->name()))
        .expected(fmt::format("at least {:.0f} bytes", store.used() + store.least))
        .found(fmt::format("{:.0f}, at node '{}'", *store.limit, n.name));
  }

  Error nothing_fits(uint16_t backend) const {
    return fail(Code::bad_usage, "memory", fmt::format("not one node fits on '{}'", roles_.backends[backend]->name()))
        .expected(fmt::format("at least {:.0f} bytes", stores_[backend].least))
        .found(fmt::format("{:.0f}", *stores_[backend].limit))
        .advice("leave the backend out");
  }

  const ir::Graph& graph_;
  const Units& units_;
  std::vector<NodePlacement>& nodes_;
  const Roles& roles_;
  const Constraints& constraints_;
  std::vector<Store> stores_;
};

}  // namespace

Result<void> keep_memory(const ir::Graph& graph, const Units& units, std::vector<NodePlacement>& nodes, const Roles& roles,
                         const Constraints& constraints) {
  return constraints.memory.empty() ? Result<void>() : Memory(graph, units, nodes, roles, constraints).run();
}

}  // namespace tenon::partition
