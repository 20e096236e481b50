// SPDX-License-Identifier: Apache-2.0
#include "partition/units.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <unordered_map>

namespace tenon::partition {

Units::Units(size_t nodes) : nodes_(nodes), first_(nodes + 1) {
  std::iota(nodes_.begin(), nodes_.end(), 0);
  std::iota(first_.begin(), first_.end(), 0);
}

Units::Units(std::span<const NodePlacement> nodes) : nodes_(nodes.size()), first_(1) {
  for (const NodePlacement& n : nodes) first_.resize(std::max<size_t>(first_.size(), n.unit + 2));
  for (const NodePlacement& n : nodes) ++first_[n.unit + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (uint32_t n = 0; n < nodes.size(); ++n) nodes_[next[nodes[n].unit]++] = n;
}

namespace {

/// Orders units topologically, ties broken by the position of their first nodes.
class Ordering {
 public:
  Ordering(const ir::Dependencies& dependencies, std::span<const NodePlacement> nodes, std::span<const AtomicGroup> groups)
      : leader_(nodes.size()), missing_(nodes.size()), successors_(nodes.size()), numbers_(nodes.size()) {
    std::iota(leader_.begin(), leader_.end(), 0);
    for (const AtomicGroup& group : groups)
      for (uint32_t n : group.nodes) leader_[n] = group.nodes[0];
    std::unordered_map<ir::NodeId, uint32_t> positions;
    for (uint32_t n = 0; n < nodes.size(); ++n) positions.emplace(nodes[n].node, n);
    for (uint32_t n = 0; n < nodes.size(); ++n)
      dependencies.each(nodes[n].node, [&](ir::NodeId needed) {
        const uint32_t from = leader_[positions.at(needed)], to = leader_[n];
        if (from == to) return;
        successors_[from].push_back(to);
        ++missing_[to];
      });
  }

  void run() {
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    for (uint32_t n = 0; n < leader_.size(); ++n)
      if (leader_[n] == n && missing_[n] == 0) ready.push(n);
    for (uint32_t number = 0; !ready.empty(); ++number) {
      const uint32_t unit = ready.top();
      ready.pop();
      numbers_[unit] = number;
      for (uint32_t f : successors_[unit])
        if (--missing_[f] == 0) ready.push(f);
    }
  }

  /// After run(): nodes outside depend on a part of the unit and have to run before another part.
  bool is_in_cycle(uint32_t node) const { return missing_[leader_[node]] > 0; }
  uint32_t number(uint32_t node) const { return numbers_[leader_[node]]; }

 private:
  // By node position. All but leader_ are of the unit whose leader the node is.
  std::vector<uint32_t> leader_;                   ///< first node of the node's unit
  std::vector<uint32_t> missing_;                  ///< predecessors that have no number yet
  std::vector<std::vector<uint32_t>> successors_;  ///< a unit once for each edge
  std::vector<uint32_t> numbers_;
};

}  // namespace

void number_units(const ir::Dependencies& dependencies, std::vector<AtomicGroup> groups, std::vector<NodePlacement>& nodes) {
  for (uint32_t n = 0; n < nodes.size(); ++n) nodes[n].unit = n;
  while (!groups.empty()) {
    Ordering order(dependencies, nodes, groups);
    order.run();
    const auto cyclic = std::ranges::partition(groups, [&](const AtomicGroup& group) { return !order.is_in_cycle(group.nodes[0]); });
    if (cyclic.empty()) {
      for (uint32_t n = 0; n < nodes.size(); ++n) nodes[n].unit = order.number(n);
      return;
    }
    for (const AtomicGroup& group : cyclic) assign_to_fallback(group, nodes, "nodes outside have to run between what it is grouped with");
    groups.erase(cyclic.begin(), cyclic.end());
  }
}

}  // namespace tenon::partition
