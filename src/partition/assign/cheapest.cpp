// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/result.h"
#include "partition/assign/costs.h"
#include "partition/assign/max_flow.h"

namespace tenon::partition {

namespace {

/// The cheapest assignment for two targets, by a minimum cut: nodes on the source's side run on target 0.
std::vector<uint16_t> cut_two(const Costs& costs) {
  MaxFlow flow(costs.nodes());
  for (uint32_t n = 0; n < costs.nodes(); ++n) {
    flow.add_to_source_side(n, costs.run(n, 0));
    flow.add_to_sink_side(n, costs.run(n, 1));
  }
  for (const Costs::Value& value : costs.values) {
    if (value.producer == Costs::kGraphInput) {  // provided on target 1: copied once, where a node on target 0 reads it
      const uint32_t copy = flow.add_node();
      flow.add_to_source_side(copy, costs.copy_ns(value, 1, 0));
      for (uint32_t r : value.readers) flow.add(r, copy, Costs::kUnsupported);
      continue;
    }
    const uint32_t to_second = flow.add_node(), to_first = flow.add_node();
    flow.add(value.producer, to_second, costs.copy_ns(value, 0, 1));
    flow.add(to_first, value.producer, costs.copy_ns(value, 1, 0));
    if (value.is_output) flow.add_to_source_side(to_second, Costs::kUnsupported);
    for (uint32_t r : value.readers) {
      flow.add(to_second, r, Costs::kUnsupported);
      flow.add(r, to_first, Costs::kUnsupported);
    }
  }
  const std::vector<bool> first = flow.source_side();
  std::vector<uint16_t> out(costs.nodes());
  for (uint32_t n = 0; n < costs.nodes(); ++n) out[n] = first[n] ? 0 : 1;
  return out;
}

/// One expansion move: each node keeps its target or changes to `to`. The cost of copies is an upper bound where a producer changes, so the
/// caller compares the true costs.
class Expansion {
 public:
  Expansion(const Costs& costs, const std::vector<uint16_t>& now, uint16_t to) : costs_(costs), now_(now), to_(to), flow_(costs.nodes()) {}

  std::vector<uint16_t> run() {
    for (uint32_t n = 0; n < costs_.nodes(); ++n) {  // source's side: the node changes to `to`
      flow_.add_to_source_side(n, costs_.run(n, to_));
      flow_.add_to_sink_side(n, now_[n] == to_ ? Costs::kUnsupported : costs_.run(n, now_[n]));
    }
    for (const Costs::Value& value : costs_.values) add(value);
    const std::vector<bool> changes = flow_.source_side();
    std::vector<uint16_t> out = now_;
    for (uint32_t n = 0; n < costs_.nodes(); ++n)
      if (changes[n]) out[n] = to_;
    return out;
  }

 private:
  void add(const Costs::Value& value) {
    const uint16_t producer_target = costs_.producer_target(value, now_);
    for (uint16_t t = 0; t < costs_.targets(); ++t) {
      std::vector<uint32_t> readers_there;
      for (uint32_t r : value.readers)
        if (now_[r] == t) readers_there.push_back(r);
      const bool is_output = value.is_output && t == costs_.last();
      if (t == to_) add_readers_at_new_target(value, producer_target, !readers_there.empty() || is_output);
      else if (!readers_there.empty() || is_output) add_readers_at(value, producer_target, t, readers_there, is_output);
    }
  }

  /// Costs of readers that keep target `t`: the value is copied there from its current target or from `to_`.
  void add_readers_at(const Costs::Value& value, uint16_t producer_target, uint16_t t, const std::vector<uint32_t>& readers,
                      bool is_output) {
    const double now = costs_.copy_ns(value, producer_target, t),
                 after_change = value.producer == Costs::kGraphInput ? now : costs_.copy_ns(value, to_, t);
    const uint32_t any_reader = flow_.add_node();  // sink's side: a reader keeps `t`
    for (uint32_t r : readers) flow_.add(any_reader, r, Costs::kUnsupported);
    if (is_output) flow_.add_to_source_side(any_reader, Costs::kUnsupported);
    flow_.add_to_sink_side(any_reader, now);
    if (value.producer != Costs::kGraphInput && after_change > now) flow_.add(value.producer, any_reader, after_change - now);
  }

  /// Costs of readers on `to_`: the value is copied there, unless its producer changes too. has_readers: some are there already.
  void add_readers_at_new_target(const Costs::Value& value, uint16_t producer_target, bool has_readers) {
    const double copy_cost = costs_.copy_ns(value, producer_target, to_);
    if (producer_target == to_ || copy_cost <= 0) return;
    const bool fixed = value.producer == Costs::kGraphInput;
    if (has_readers) {
      if (!fixed) flow_.add_to_sink_side(value.producer, copy_cost);
      return;
    }
    const uint32_t any_reader = flow_.add_node();  // source's side: a reader changes
    for (uint32_t r : value.readers) flow_.add(r, any_reader, Costs::kUnsupported);
    if (fixed) flow_.add_to_source_side(any_reader, copy_cost);
    else flow_.add(any_reader, value.producer, copy_cost);
  }

  const Costs& costs_;
  const std::vector<uint16_t>& now_;
  uint16_t to_;
  MaxFlow flow_;
};

/// A lower bound: the least cost with `target` and one other target, which has the least costs of all other targets.
double lower_bound_of(const Costs& costs, uint16_t target) {
  Costs two_targets(2, costs.nodes());
  const auto least = [&](auto value_of) {
    double out = Costs::kUnsupported;
    for (uint16_t t = 0; t < costs.targets(); ++t)
      if (t != target) out = std::min(out, value_of(t));
    return out;
  };
  for (uint32_t n = 0; n < costs.nodes(); ++n) {
    two_targets.run(n, 0) = costs.run(n, target);
    two_targets.run(n, 1) = least([&](uint16_t t) { return costs.run(n, t); });
  }
  const bool is_last = target == costs.targets() - 1;
  two_targets.link(0, 1) = two_targets.link(1, 0) = {0, 1};  // Value::bytes is the cost of a copy then
  for (const Costs::Value& value : costs.values) {
    if (value.producer == Costs::kGraphInput && is_last) continue;
    Costs::Value with_cost = value;
    if (is_last) with_cost.is_output = false;  // a lower bound need not count that copy
    with_cost.bytes = std::min(least([&](uint16_t t) { return costs.copy_ns(value, target, t); }),
                               least([&](uint16_t t) { return costs.copy_ns(value, t, target); }));
    two_targets.values.push_back(std::move(with_cost));
  }
  return cost_of(two_targets, cut_two(two_targets));
}

/// Initial assignments: each node to its fastest target; each to the first that supports it; all that it supports to one target.
std::vector<std::vector<uint16_t>> initial_assignments(const Costs& costs) {
  std::vector<std::vector<uint16_t>> out(2, std::vector<uint16_t>(costs.nodes()));
  for (uint32_t n = 0; n < costs.nodes(); ++n) {
    uint16_t fastest = 0, first = costs.targets();
    for (uint16_t t = 0; t < costs.targets(); ++t) {
      if (costs.run(n, t) < costs.run(n, fastest)) fastest = t;
      if (first == costs.targets() && costs.run(n, t) < Costs::kUnsupported) first = t;
    }
    out[0][n] = fastest;
    out[1][n] = first < costs.targets() ? first : fastest;
  }
  for (uint16_t t = 0; t < costs.targets(); ++t) {
    out.push_back(out[0]);
    for (uint32_t n = 0; n < costs.nodes(); ++n)
      if (costs.run(n, t) < Costs::kUnsupported) out.back()[n] = t;
  }
  return out;
}

Assignment improve_by_expansion(const Costs& costs) {
  Assignment out;
  std::optional<double> least;
  for (std::vector<uint16_t>& start : initial_assignments(costs))
    if (const double cost = cost_of(costs, start); !least || cost < *least) {
      least = cost;
      out.targets = std::move(start);
    }
  for (bool better = true; better;) {
    better = false;
    for (uint16_t t = 0; t < costs.targets(); ++t) {
      std::vector<uint16_t> next = Expansion(costs, out.targets, t).run();
      const double cost = cost_of(costs, next);
      if (cost >= *least * (1 - 1e-9)) continue;
      least = cost;
      out.targets = std::move(next);
      better = true;
    }
  }
  out.cost_ns = least.value_or(0);
  for (uint16_t t = 0; t < costs.targets(); ++t) out.lower_bound_ns = std::max(out.lower_bound_ns, lower_bound_of(costs, t));
  return out;
}

}  // namespace

double cost_of(const Costs& costs, std::span<const uint16_t> assigned) {
  double out = 0;
  for (uint32_t n = 0; n < costs.nodes(); ++n) out += costs.run(n, assigned[n]);
  for (const Costs::Value& value : costs.values) {
    uint64_t targets = 0;  // bit t: a reader is on target t
    for (uint32_t r : value.readers) targets |= uint64_t{1} << assigned[r];
    if (value.is_output) targets |= uint64_t{1} << costs.last();
    const uint16_t producer_target = costs.producer_target(value, assigned);
    for (uint16_t t = 0; t < costs.targets(); ++t)
      if (targets >> t & 1) out += costs.copy_ns(value, producer_target, t);
  }
  return out;
}

Assignment cheapest(const Costs& costs) {
  TENON_ASSERT(costs.targets() <= 64);
  if (costs.targets() != 2) return improve_by_expansion(costs);
  Assignment out{.targets = cut_two(costs), .cost_ns = 0, .lower_bound_ns = 0};
  out.cost_ns = out.lower_bound_ns = cost_of(costs, out.targets);
  return out;
}

}  // namespace tenon::partition
