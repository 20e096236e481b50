// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/result.h"
#include "partition/assign/costs.h"
#include "partition/assign/max_flow.h"

namespace tenon::partition {

namespace {

/// The cheapest assignment of two targets: a cut whose source's side is target 0.
std::vector<uint16_t> cut_two(const Costs& costs) {
  MaxFlow flow(costs.nodes());
  for (uint32_t n = 0; n < costs.nodes(); ++n) {
    flow.add_to_source_side(n, costs.run(n, 0));
    flow.add_to_sink_side(n, costs.run(n, 1));
  }
  for (const Costs::Value& value : costs.values) {
    if (value.maker == Costs::kInput) {  // made on target 1: paid once, where anybody on target 0 reads it
      const uint32_t there = flow.add_node();
      flow.add_to_source_side(there, costs.move(value, 1, 0));
      for (uint32_t r : value.readers) flow.add(r, there, Costs::kNever);
      continue;
    }
    const uint32_t forth = flow.add_node(), back = flow.add_node();
    flow.add(value.maker, forth, costs.move(value, 0, 1));
    flow.add(back, value.maker, costs.move(value, 1, 0));
    if (value.returned) flow.add_to_source_side(forth, Costs::kNever);
    for (uint32_t r : value.readers) {
      flow.add(forth, r, Costs::kNever);
      flow.add(r, back, Costs::kNever);
    }
  }
  const std::vector<bool> first = flow.source_side();
  std::vector<uint16_t> out(costs.nodes());
  for (uint32_t n = 0; n < costs.nodes(); ++n) out[n] = first[n] ? 0 : 1;
  return out;
}

/// One move: each node keeps its target or goes to `to`. Where less is paid for a value whose maker moves than before, the move may be
/// underrated; so the caller looks whether it pays.
class Expansion {
 public:
  Expansion(const Costs& costs, const std::vector<uint16_t>& now, uint16_t to) : costs_(costs), now_(now), to_(to), flow_(costs.nodes()) {}

  std::vector<uint16_t> run() {
    for (uint32_t n = 0; n < costs_.nodes(); ++n) {  // source's side: it goes
      flow_.add_to_source_side(n, costs_.run(n, to_));
      flow_.add_to_sink_side(n, now_[n] == to_ ? Costs::kNever : costs_.run(n, now_[n]));
    }
    for (const Costs::Value& value : costs_.values) add(value);
    const std::vector<bool> goes = flow_.source_side();
    std::vector<uint16_t> out = now_;
    for (uint32_t n = 0; n < costs_.nodes(); ++n)
      if (goes[n]) out[n] = to_;
    return out;
  }

 private:
  void add(const Costs::Value& value) {
    const uint16_t home = costs_.home(value, now_);
    for (uint16_t t = 0; t < costs_.targets(); ++t) {
      std::vector<uint32_t> there;
      for (uint32_t r : value.readers)
        if (now_[r] == t) there.push_back(r);
      const bool returned = value.returned && t == costs_.last();
      if (t == to_) arrivals(value, home, !there.empty() || returned);
      else if (!there.empty() || returned) stays(value, home, t, there, returned);
    }
  }

  /// Readers that stay on `t`: the value is brought there, from where it is made now or from `to_`.
  void stays(const Costs::Value& value, uint16_t home, uint16_t t, const std::vector<uint32_t>& readers, bool returned) {
    const double now = costs_.move(value, home, t), then = value.maker == Costs::kInput ? now : costs_.move(value, to_, t);
    const uint32_t any = flow_.add_node();  // sink's side: somebody stays
    for (uint32_t r : readers) flow_.add(any, r, Costs::kNever);
    if (returned) flow_.add_to_source_side(any, Costs::kNever);
    flow_.add_to_sink_side(any, now);
    if (value.maker != Costs::kInput && then > now) flow_.add(value.maker, any, then - now);
  }

  /// Readers that go, or are there: the value is brought to `to_`, unless its maker goes too.
  void arrivals(const Costs::Value& value, uint16_t home, bool there) {
    const double price = costs_.move(value, home, to_);
    if (home == to_ || price <= 0) return;
    const bool fixed = value.maker == Costs::kInput;
    if (there) {
      if (!fixed) flow_.add_to_sink_side(value.maker, price);
      return;
    }
    const uint32_t any = flow_.add_node();  // source's side: somebody goes
    for (uint32_t r : value.readers) flow_.add(r, any, Costs::kNever);
    if (fixed) flow_.add_to_source_side(any, price);
    else flow_.add(any, value.maker, price);
  }

  const Costs& costs_;
  const std::vector<uint16_t>& now_;
  uint16_t to_;
  MaxFlow flow_;
};

/// Target `one` against all others as if they were one: never dearer than the truth.
double relaxed(const Costs& costs, uint16_t one) {
  Costs two(2, costs.nodes());
  const auto least = [&](auto value_of) {
    double out = Costs::kNever;
    for (uint16_t t = 0; t < costs.targets(); ++t)
      if (t != one) out = std::min(out, value_of(t));
    return out;
  };
  for (uint32_t n = 0; n < costs.nodes(); ++n) {
    two.run(n, 0) = costs.run(n, one);
    two.run(n, 1) = least([&](uint16_t t) { return costs.run(n, t); });
  }
  const bool at_home = one == costs.targets() - 1;
  two.link(0, 1) = two.link(1, 0) = {0, 1};  // each value is priced by its own
  for (const Costs::Value& value : costs.values) {
    if (value.maker == Costs::kInput && at_home) continue;
    Costs::Value priced = value;
    if (at_home) priced.returned = false;  // it is one of two where it is read then
    priced.bytes = std::min(least([&](uint16_t t) { return costs.move(value, one, t); }),
                            least([&](uint16_t t) { return costs.move(value, t, one); }));
    two.values.push_back(std::move(priced));
  }
  return cost_of(two, cut_two(two));
}

/// Each node where it runs fastest; each on the first that runs it; all on one target.
std::vector<std::vector<uint16_t>> simple(const Costs& costs) {
  std::vector<std::vector<uint16_t>> out(2, std::vector<uint16_t>(costs.nodes()));
  for (uint32_t n = 0; n < costs.nodes(); ++n) {
    uint16_t fastest = 0, first = costs.targets();
    for (uint16_t t = 0; t < costs.targets(); ++t) {
      if (costs.run(n, t) < costs.run(n, fastest)) fastest = t;
      if (first == costs.targets() && costs.run(n, t) < Costs::kNever) first = t;
    }
    out[0][n] = fastest;
    out[1][n] = first < costs.targets() ? first : fastest;
  }
  for (uint16_t t = 0; t < costs.targets(); ++t) {
    out.push_back(out[0]);
    for (uint32_t n = 0; n < costs.nodes(); ++n)
      if (costs.run(n, t) < Costs::kNever) out.back()[n] = t;
  }
  return out;
}

Assignment expand(const Costs& costs) {
  Assignment out;
  std::optional<double> least;
  for (std::vector<uint16_t>& start : simple(costs))
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
  out.cost = least.value_or(0);
  for (uint16_t t = 0; t < costs.targets(); ++t) out.bound = std::max(out.bound, relaxed(costs, t));
  return out;
}

}  // namespace

double cost_of(const Costs& costs, std::span<const uint16_t> assigned) {
  double out = 0;
  for (uint32_t n = 0; n < costs.nodes(); ++n) out += costs.run(n, assigned[n]);
  for (const Costs::Value& value : costs.values) {
    uint64_t there = 0;
    for (uint32_t r : value.readers) there |= uint64_t{1} << assigned[r];
    if (value.returned) there |= uint64_t{1} << costs.last();
    const uint16_t home = costs.home(value, assigned);
    for (uint16_t t = 0; t < costs.targets(); ++t)
      if (there >> t & 1) out += costs.move(value, home, t);
  }
  return out;
}

Assignment cheapest(const Costs& costs) {
  TENON_ASSERT(costs.targets() <= 64);
  if (costs.targets() != 2) return expand(costs);
  Assignment out{.targets = cut_two(costs), .cost = 0, .bound = 0};
  out.cost = out.bound = cost_of(costs, out.targets);
  return out;
}

}  // namespace tenon::partition
