// SPDX-License-Identifier: Apache-2.0
#include "partition/atomic_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "ops/core/op.h"

namespace tenon::partition {

namespace {

/// A union-find structure over nodes.
class DisjointSets {
 public:
  explicit DisjointSets(size_t nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0); }
  uint32_t root_of(uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  void join(uint32_t a, uint32_t b) { parent_[std::max(root_of(a), root_of(b))] = std::min(root_of(a), root_of(b)); }

 private:
  std::vector<uint32_t> parent_;
};

/// Joins nodes that belong together: see atomic_groups().
class AtomicGroupFinder {
 public:
  explicit AtomicGroupFinder(const ir::Graph& graph) : graph_(graph), sets_(graph.node_count()) {}

  std::vector<AtomicGroup> run() {
    bool any = false;
    for (ir::NodeId id : graph_.nodes()) any |= may_belong(graph_.node(id));
    if (!any) return {};
    uint32_t n = 0;
    for (ir::NodeId id : graph_.nodes()) numbers_.emplace(id, n++);
    for (ir::NodeId id : graph_.nodes()) {
      join_quantized(id);
      join_non_tensors(id);
    }
    std::map<uint32_t, AtomicGroup> found;
    for (ir::NodeId id : graph_.nodes()) {
      const auto member = memberships_.find(numbers_.at(id));
      if (member == memberships_.end()) continue;
      AtomicGroup& group = found[sets_.root_of(member->first)];
      group.nodes.push_back(member->first);
      if (member->second != Membership::quantized) group.kind = AtomicGroup::Kind::non_tensor;
      group.open |= member->second == Membership::open;
    }
    std::vector<AtomicGroup> out;
    for (auto& [first, group] : found) out.push_back(std::move(group));
    return out;
  }

 private:
  /// Why a node belongs to a group; open: also a graph input or output that is not a tensor.
  enum class Membership : uint8_t { quantized, non_tensor, open };

  bool may_belong(const ir::Node& node) const {
    const auto is_non_tensor = [&](ir::ValueId v) { return v && !graph_.value(v).type.is_tensor(); };
    return ops::def_of(*node.op).placed_with != ops::PlacedWith::none || std::ranges::any_of(node.inputs, is_non_tensor) ||
           std::ranges::any_of(node.outputs, is_non_tensor);
  }
  void add_member(uint32_t node, Membership membership) {
    const auto [at, is_new] = memberships_.try_emplace(node, membership);
    at->second = std::max(at->second, membership);
  }
  void join(ir::NodeId a, ir::NodeId b, Membership membership) {
    sets_.join(numbers_.at(a), numbers_.at(b));
    add_member(numbers_.at(a), membership);
    add_member(numbers_.at(b), membership);
  }

  /// Joins a quantizing node with the producer of its operand, and a dequantizing one with the reader of its result, where no other node
  /// reads the value between them.
  void join_quantized(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    const ops::PlacedWith with = ops::def_of(*node.op).placed_with;
    if (with == ops::PlacedWith::none) return;
    const ir::Value& between = graph_.value(with == ops::PlacedWith::consumer ? node.outputs[0] : node.inputs[0]);
    if (between.uses.size() != 1 || between.uses[0].is_output() || !between.producer) return;
    const ir::NodeId reader = between.uses[0].node;
    if (graph_.node(reader).bodies.empty() && graph_.node(between.producer).bodies.empty())
      join(between.producer, reader, Membership::quantized);
  }

  /// Joins a node with the readers of its results that are not tensors.
  void join_non_tensors(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    for (ir::ValueId v : node.inputs)
      if (v && !graph_.value(v).type.is_tensor() && !graph_.value(v).producer) add_member(numbers_.at(id), Membership::open);
    for (ir::ValueId v : node.outputs) {
      if (!v || graph_.value(v).type.is_tensor()) continue;
      add_member(numbers_.at(id), Membership::non_tensor);
      for (const ir::Use& use : graph_.value(v).uses) {
        if (use.is_output()) add_member(numbers_.at(id), Membership::open);
        else join(id, use.node, Membership::non_tensor);
      }
    }
  }

  const ir::Graph& graph_;
  DisjointSets sets_;
  std::unordered_map<ir::NodeId, uint32_t> numbers_;      ///< positions of nodes in the order of the graph
  std::unordered_map<uint32_t, Membership> memberships_;  ///< of the nodes that belong to a group, by position
};

bool supports(const NodePlacement& node, uint16_t backend) { return std::ranges::find(node.choices, backend) != node.choices.end(); }

/// Chooses one backend for all nodes of a group: see place_groups().
class GroupPlacer {
 public:
  GroupPlacer(const ir::Graph& graph, std::vector<NodePlacement>& nodes, const Roles& roles)
      : graph_(graph), nodes_(nodes), roles_(roles) {}

  /// Whether the group is placed on an accelerated backend; else it is on its fallback.
  Result<bool> place(const AtomicGroup& group) {
    const std::vector<uint16_t> common = group.open ? std::vector<uint16_t>() : common_of(group);
    if (common.empty()) {
      TRY(check_pins(group));
      assign_to_fallback(group, nodes_, refusal_of(group));
      return false;
    }
    const bool is_fixed = std::ranges::any_of(group.nodes, [&](uint32_t n) { return nodes_[n].is_fixed; });
    for (uint32_t n : group.nodes) {
      NodePlacement& node = nodes_[n];
      if (node.backend != common[0])
        node.reasons.push_back({"chosen", fmt::format("{} runs all that it is grouped with", roles_.backends[common[0]]->name())});
      node.backend = node.preferred_backend = common[0];
      node.is_fixed = is_fixed;
      node.choices = common;
      if (is_fixed) node.fallback_target = common[0];
      else node.choices.push_back(node.fallback_target);
    }
    return true;
  }

 private:
  /// The accelerated backends that support every node; empty where the nodes have different fallbacks.
  std::vector<uint16_t> common_of(const AtomicGroup& group) const {
    std::vector<uint16_t> out;
    for (uint16_t b = 0; b < roles_.fallback(); ++b)
      if (std::ranges::all_of(group.nodes, [&](uint32_t n) { return supports(nodes_[n], b); })) out.push_back(b);
    std::optional<uint16_t> fallback_target;
    for (uint32_t n : group.nodes) {
      if (nodes_[n].is_fixed) continue;
      if (fallback_target.value_or(nodes_[n].fallback_target) != nodes_[n].fallback_target) return {};
      fallback_target = nodes_[n].fallback_target;
    }
    return out;
  }

  bool is_pinned(uint32_t n) const {
    const ir::Placement* placement = graph_.node(nodes_[n].node).placement();
    return placement && !placement->backend.empty();
  }

  /// Refuses a group without a common backend where a node is pinned to an accelerated one.
  Result<void> check_pins(const AtomicGroup& group) const {
    for (uint32_t n : group.nodes) {
      if (!is_pinned(n) || !roles_.is_accelerated(nodes_[n].backend)) continue;
      const std::string backend(roles_.backends[nodes_[n].backend]->name());
      for (uint32_t other : group.nodes)
        if (!supports(nodes_[other], nodes_[n].backend))
          return fail(Code::bad_usage, fmt::format("node '{}'", nodes_[n].name),
                      fmt::format("it is pinned to '{}', apart from node '{}', which it is grouped with", backend, nodes_[other].name))
              .expected(group.kind == AtomicGroup::Kind::quantized ? "one backend for a quantized unit"
                                                                   : "one backend for what passes on no tensors")
              .found(nodes_[other].reasons.empty() ? "" : nodes_[other].reasons[0].text)
              .advice("leave the pin out, or pin both");
      return fail(Code::bad_usage, fmt::format("node '{}'", nodes_[n].name),
                  fmt::format("it is pinned to '{}', which would have to take or give a value that is no tensor", backend))
          .expected("an accelerated backend takes and gives tensors alone")
          .advice("pin it to the fallback, or leave the pin out");
    }
    return {};
  }

  /// Why no accelerated backend runs the group.
  std::string refusal_of(const AtomicGroup& group) const {
    if (group.open) return "a value that is no tensor comes in or goes out here";
    for (uint32_t n : group.nodes)
      if (!roles_.is_accelerated(nodes_[n].backend))
        return fmt::format("'{}', which it is grouped with, is not accelerated", nodes_[n].name);
    return "no accelerated backend runs all that it is grouped with";
  }

  const ir::Graph& graph_;
  std::vector<NodePlacement>& nodes_;
  const Roles& roles_;
};

}  // namespace

std::vector<AtomicGroup> atomic_groups(const ir::Graph& graph) { return AtomicGroupFinder(graph).run(); }

Result<std::vector<AtomicGroup>> place_groups(const ir::Graph& graph, std::vector<AtomicGroup> groups, std::vector<NodePlacement>& nodes,
                                              const Roles& roles) {
  std::vector<AtomicGroup> out;
  for (AtomicGroup& group : groups)
    if (TRY(GroupPlacer(graph, nodes, roles).place(group))) out.push_back(std::move(group));
  return out;
}

void assign_to_fallback(const AtomicGroup& group, std::vector<NodePlacement>& nodes, const std::string& why) {
  for (uint32_t n : group.nodes) {
    NodePlacement& node = nodes[n];
    if (node.backend != node.fallback_target)
      node.reasons.push_back({group.kind == AtomicGroup::Kind::quantized ? "unsupported" : "non_tensor", why});
    node.backend = node.preferred_backend = node.fallback_target;
    node.choices = {node.fallback_target};
  }
}

}  // namespace tenon::partition
