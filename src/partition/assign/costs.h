// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tenon::partition {

/// What it costs to run nodes on targets and to bring values from one target to another, in nanoseconds.
class Costs {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr uint32_t kInput = UINT32_MAX;

  struct Value {
    uint32_t maker = kInput;        ///< an input is made on the last target
    std::vector<uint32_t> readers;  ///< nodes, each once
    bool returned = false;          ///< the last target reads it too
    double bytes = 0;
  };
  struct Link {
    double ns = 0, ns_per_byte = 0;
  };

  Costs(uint16_t targets, size_t nodes)
      : targets_(targets), run_(nodes * targets, kNever), links_(size_t{targets} * targets), launch_(targets) {}

  uint16_t targets() const { return targets_; }
  uint32_t nodes() const { return static_cast<uint32_t>(run_.size() / targets_); }
  /// One run of a node; kNever where the target does not run it.
  double& run(uint32_t node, uint16_t target) { return run_[node * targets_ + target]; }
  double run(uint32_t node, uint16_t target) const { return run_[node * targets_ + target]; }
  Link& link(uint16_t from, uint16_t to) { return links_[from * targets_ + to]; }
  /// To start a segment.
  double& launch(uint16_t target) { return launch_[target]; }
  double launch(uint16_t target) const { return launch_[target]; }

  std::vector<Value> values;

  /// A value is brought to each target that reads it once, whoever reads it there.
  double move(const Value& value, uint16_t from, uint16_t to) const { return from == to ? 0 : link_ns(value, from, to); }
  /// From one segment to another, which may be of the same target.
  double link_ns(const Value& value, uint16_t from, uint16_t to) const {
    const Link& l = links_[from * targets_ + to];
    return l.ns + l.ns_per_byte * value.bytes;
  }
  uint16_t last() const { return static_cast<uint16_t>(targets_ - 1); }
  uint16_t home(const Value& value, std::span<const uint16_t> assigned) const {
    return value.maker == kInput ? last() : assigned[value.maker];
  }

 private:
  uint16_t targets_;
  std::vector<double> run_;
  std::vector<Link> links_;
  std::vector<double> launch_;
};

/// Of running and moving; launches depend on the cut.
double cost_of(const Costs& costs, std::span<const uint16_t> assigned);

struct Assignment {
  std::vector<uint16_t> targets;  ///< of each node
  double cost = 0;                ///< see cost_of
  double bound = 0;               ///< no assignment costs less; equal for two targets
};

/// The cheapest assignment. Two targets: a minimum cut, exact. More: expansion moves (Boykov, Veksler, Zabih 2001) from the best of simple
/// ones, and a bound from two-target relaxations. Every node runs somewhere. Cost: a maximum flow over nodes and values, some for each
/// target.
Assignment cheapest(const Costs& costs);

}  // namespace tenon::partition
