// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tenon::partition {

/// Costs in nanoseconds of running nodes on targets (backends) and of copying values between targets.
class Costs {
 public:
  static constexpr double kUnsupported = std::numeric_limits<double>::infinity();
  static constexpr uint32_t kGraphInput = UINT32_MAX;

  struct Value {
    uint32_t producer = kGraphInput;  ///< kGraphInput: a graph input, which the last target provides
    std::vector<uint32_t> readers;    ///< nodes, each once
    bool is_output = false;           ///< a graph output, which the last target reads too
    double bytes = 0;
  };
  struct Link {
    double ns = 0, ns_per_byte = 0;
  };

  Costs(uint16_t targets, size_t nodes)
      : targets_(targets), run_(nodes * targets, kUnsupported), links_(size_t{targets} * targets), launch_(targets) {}

  uint16_t targets() const { return targets_; }
  uint32_t nodes() const { return static_cast<uint32_t>(run_.size() / targets_); }
  /// One run of a node; kUnsupported where the target does not support it.
  double& run(uint32_t node, uint16_t target) { return run_[node * targets_ + target]; }
  double run(uint32_t node, uint16_t target) const { return run_[node * targets_ + target]; }
  Link& link(uint16_t from, uint16_t to) { return links_[from * targets_ + to]; }
  /// To start a segment.
  double& launch(uint16_t target) { return launch_[target]; }
  double launch(uint16_t target) const { return launch_[target]; }

  std::vector<Value> values;

  /// Copying a value to a target: once, however many nodes read it there.
  double copy_ns(const Value& value, uint16_t from, uint16_t to) const { return from == to ? 0 : link_ns(value, from, to); }
  /// Copying a value from one segment to another, which may be of the same target.
  double link_ns(const Value& value, uint16_t from, uint16_t to) const {
    const Link& l = links_[from * targets_ + to];
    return l.ns + l.ns_per_byte * value.bytes;
  }
  uint16_t last() const { return static_cast<uint16_t>(targets_ - 1); }
  /// The target that produces the value under an assignment.
  uint16_t producer_target(const Value& value, std::span<const uint16_t> assigned) const {
    return value.producer == kGraphInput ? last() : assigned[value.producer];
  }

 private:
  uint16_t targets_;
  std::vector<double> run_;
  std::vector<Link> links_;
  std::vector<double> launch_;
};

/// The cost of an assignment: runs and copies, without launches, which depend on the cut.
double cost_of(const Costs& costs, std::span<const uint16_t> assigned);

struct Assignment {
  std::vector<uint16_t> targets;  ///< of each node
  double cost_ns = 0;             ///< see cost_of
  double lower_bound_ns = 0;      ///< no assignment costs less; equal to cost_ns for two targets
};

/// The cheapest assignment. Two targets: a minimum cut, exact. More: expansion moves (Boykov, Veksler, Zabih 2001) from the best of simple
/// ones, and a bound from two-target relaxations. Each node must have a target that supports it. Cost: a maximum flow over nodes and
/// values, some for each target.
Assignment cheapest(const Costs& costs);

}  // namespace tenon::partition
