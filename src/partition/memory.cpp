// SPDX-License-Identifier: Apache-2.0
#include "partition/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "backend/work.h"

namespace tenon::partition {

namespace {

/// The memory use of one backend, in bytes.
struct MemoryUse {
  std::optional<double> limit;
  double weights = 0;
  double largest_node = 0;      ///< operands and results of the largest node
  double smallest_refused = 0;  ///< of the units that did not fit: the smallest
  size_t placed = 0;
  bool full = false;  ///< a unit that fits alone did not fit in the rest; later units do not fill the gaps
  std::unordered_set<const ir::Constant*> counted_weights;

  double used() const { return weights + largest_node; }
};

class MemoryLimiter {
 public:
  MemoryLimiter(const ir::Graph& graph, const Units& units, std::vector<NodePlacement>& nodes, const Roles& roles,
                const Constraints& constraints)
      : graph_(graph), units_(units), nodes_(nodes), roles_(roles), constraints_(constraints), uses_(roles.count()) {}

  Result<void> run() {
    for (const MemoryLimit& limit : constraints_.memory) TRY(set(limit));
    for (uint32_t unit = 0; unit < units_.size(); ++unit)
      if (first(unit).is_fixed && !put(unit, first(unit).preferred_backend)) return pins_do_not_fit(first(unit));
    for (uint32_t unit = 0; unit < units_.size(); ++unit)
      if (!first(unit).is_fixed && !put(unit, first(unit).preferred_backend)) move(unit);
    for (uint16_t b = 0; b < roles_.count(); ++b)
      if (uses_[b].limit && uses_[b].placed == 0 && uses_[b].smallest_refused > 0) return nothing_fits(b);
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
    MemoryUse& use = uses_[static_cast<size_t>(at - names.begin())];
    if (use.limit) return fail(Code::bad_usage, "memory", "a backend has one limit").expected("each name once").found(limit.backend);
    use.limit = static_cast<double>(limit.bytes);
    return {};
  }

  /// The first node of a unit, whose backend is that of all its nodes.
  const NodePlacement& first(uint32_t unit) const { return nodes_[units_.nodes(unit)[0]]; }

  /// The bytes that the unit adds to a backend's weights, and the bytes of operands and results of its largest node.
  std::pair<double, double> needs(uint32_t unit, const MemoryUse& use) const {
    double weights = 0, values = 0;
    std::unordered_set<const ir::Constant*> counted;
    for (uint32_t n : units_.nodes(unit)) {
      const auto [more, own] = needs(graph_.node(nodes_[n].node), use, counted);
      weights += more;
      values = std::max(values, own);
    }
    return {weights, values};
  }
  std::pair<double, double> needs(const ir::Node& node, const MemoryUse& use, std::unordered_set<const ir::Constant*>& counted) const {
    double weights = 0, values = 0;
    for (ir::ValueId v : node.inputs) {
      if (!v) continue;
      const ir::Value& value = graph_.value(v);
      if (!value.is_constant()) values += max_bytes_of(value.type);
      else if (!use.counted_weights.contains(value.constant.get()) && counted.insert(value.constant.get()).second)
        weights += static_cast<double>(value.constant->byte_size());
    }
    for (ir::ValueId v : node.outputs)
      if (v) values += max_bytes_of(graph_.value(v).type);
    return {weights, values};
  }

  static double max_bytes_of(const ir::Type& type) {
    const auto bytes = backend::max_bytes(type);
    return bytes ? static_cast<double>(*bytes) : backend::bytes_of(type);
  }

  /// Counts the unit on the backend; false, and nothing is counted, where it does not fit.
  bool put(uint32_t unit, uint16_t backend) {
    MemoryUse& use = uses_[backend];
    if (!use.limit) return true;
    if (use.full && !first(unit).is_fixed) return false;
    const auto [weights, values] = needs(unit, use);
    const double all = use.weights + weights + std::max(use.largest_node, values);
    if (all > *use.limit) {
      use.full |= weights + values <= *use.limit;
      use.smallest_refused = use.smallest_refused > 0 ? std::min(use.smallest_refused, weights + values) : weights + values;
      return false;
    }
    use.weights += weights;
    use.largest_node = std::max(use.largest_node, values);
    ++use.placed;
    for (uint32_t n : units_.nodes(unit))
      for (ir::ValueId v : graph_.node(nodes_[n].node).inputs)
        if (v && graph_.value(v).is_constant()) use.counted_weights.insert(graph_.value(v).constant.get());
    return true;
  }

  void move(uint32_t unit) {
    const uint16_t from = first(unit).preferred_backend;
    uint16_t to = first(unit).fallback_target;
    for (uint16_t b : first(unit).choices)
      if (b > from && b != first(unit).fallback_target && put(unit, b)) {
        to = b;
        break;
      }
    for (uint32_t n : units_.nodes(unit)) {
      nodes_[n].preferred_backend = nodes_[n].backend = to;
      nodes_[n].reasons.push_back(
          {"over_budget", fmt::format("{} has no room for it in its {:.0f} bytes", roles_.backends[from]->name(), *uses_[from].limit)});
    }
  }

  Error pins_do_not_fit(const NodePlacement& n) const {
    const MemoryUse& use = uses_[n.preferred_backend];
    return fail(Code::bad_usage, "memory",
                fmt::format("the nodes fixed on '{}' exceed its memory limit", roles_.backends[n.preferred_backend]->name()))
        .expected(fmt::format("at least {:.0f} bytes", use.used() + use.smallest_refused))
        .found(fmt::format("{:.0f}, at node '{}'", *use.limit, n.name));
  }

  Error nothing_fits(uint16_t backend) const {
    return fail(Code::bad_usage, "memory", fmt::format("not one node fits on '{}'", roles_.backends[backend]->name()))
        .expected(fmt::format("at least {:.0f} bytes", uses_[backend].smallest_refused))
        .found(fmt::format("{:.0f}", *uses_[backend].limit))
        .advice("leave the backend out");
  }

  const ir::Graph& graph_;
  const Units& units_;
  std::vector<NodePlacement>& nodes_;
  const Roles& roles_;
  const Constraints& constraints_;
  std::vector<MemoryUse> uses_;
};

}  // namespace

Result<void> enforce_memory_limits(const ir::Graph& graph, const Units& units, std::vector<NodePlacement>& nodes, const Roles& roles,
                                   const Constraints& constraints) {
  return constraints.memory.empty() ? Result<void>() : MemoryLimiter(graph, units, nodes, roles, constraints).run();
}

}  // namespace tenon::partition
