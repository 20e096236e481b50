// SPDX-License-Identifier: Apache-2.0
#include "partition/profitable.h"

#include <algorithm>
#include <utility>

namespace tenon::partition {

namespace {

class ProfitAnalysis {
 public:
  ProfitAnalysis(const Costs& costs, const Problem& problem, const Cut& cut)
      : costs_(costs), problem_(problem), cut_(cut), nodes_(cut.size()), values_(cut.size()), is_kept_(cut.size()), dropped_(cut.size()) {
    for (uint32_t n = 0; n < problem.size(); ++n) {
      nodes_[cut.segment_of[n]].push_back(n);
      if (problem.nodes[n].pinned || problem.nodes[n].target >= problem.fallback) is_kept_[cut.segment_of[n]] = true;
    }
    for (uint32_t v = 0; v < costs.values.size(); ++v) {
      std::vector<uint32_t> at;
      if (costs.values[v].producer != Costs::kGraphInput) at.push_back(cut.segment_of[costs.values[v].producer]);
      for (uint32_t r : costs.values[v].readers) at.push_back(cut.segment_of[r]);
      for (uint32_t segment : unique(std::move(at))) values_[segment].push_back(v);
    }
  }

  double predicted() const {
    double ns = 0;
    for (uint16_t target : cut_.targets) ns += costs_.launch(target);
    for (uint32_t n = 0; n < problem_.size(); ++n) ns += costs_.run(n, cut_.targets[cut_.segment_of[n]]);
    for (const Costs::Value& value : costs_.values) ns += copies_of(value);
    return ns;
  }

  std::vector<uint32_t> run() {
    double best_gain = 0;
    std::vector<uint32_t> out;
    const auto keep_if_better = [&](const std::vector<uint32_t>& segments) {
      const double gain = gain_of(segments);
      if (gain <= best_gain) return;
      best_gain = gain;
      out.clear();
      for (uint32_t s : segments) out.insert(out.end(), nodes_[s].begin(), nodes_[s].end());
    };
    std::vector<uint32_t> all;
    for (uint32_t s = 0; s < cut_.size(); ++s)
      if (!is_kept_[s]) all.push_back(s);
    for (uint32_t s : all) keep_if_better({s});
    if (all.size() > 1) keep_if_better(all);
    return out;
  }

 private:
  static std::vector<uint32_t> unique(std::vector<uint32_t> list) {
    std::ranges::sort(list);
    list.erase(std::ranges::unique(list).begin(), list.end());
    return list;
  }

  /// Nanoseconds saved by moving the nodes of the segments to their fallback.
  double gain_of(const std::vector<uint32_t>& segments) {
    double gain = 0;
    std::vector<uint32_t> values;
    for (uint32_t s : segments) {
      gain += costs_.launch(cut_.targets[s]);
      for (uint32_t n : nodes_[s]) gain += costs_.run(n, cut_.targets[s]) - costs_.run(n, problem_.nodes[n].fallback_target);
      values.insert(values.end(), values_[s].begin(), values_[s].end());
    }
    values = unique(std::move(values));
    for (uint32_t v : values) gain += copies_of(costs_.values[v]);
    for (uint32_t s : segments) dropped_[s] = true;
    for (uint32_t v : values) gain -= copies_of(costs_.values[v]);
    for (uint32_t s : segments) dropped_[s] = false;
    return gain;
  }

  /// A segment and its target. Numbers beyond the segments of the cut: first the caller of the graph, then, for each target, the nodes that
  /// moved to it as their fallback.
  using Place = std::pair<uint32_t, uint16_t>;
  Place caller() const { return {cut_.size(), costs_.last()}; }
  Place place_of(uint32_t node) const {
    const uint32_t segment = cut_.segment_of[node];
    if (!dropped_[segment]) return {segment, cut_.targets[segment]};
    const uint16_t target = problem_.nodes[node].fallback_target;
    return {cut_.size() + 1 + target, target};
  }

  double copies_of(const Costs::Value& value) const {
    const Place producer_target = value.producer == Costs::kGraphInput ? caller() : place_of(value.producer);
    std::vector<Place> places;
    for (uint32_t r : value.readers) places.push_back(place_of(r));
    if (value.is_output) places.push_back(caller());
    std::ranges::sort(places);
    double ns = 0;
    size_t others = 0;
    for (size_t k = 0; k < places.size(); ++k) {
      if (places[k] == producer_target || (k > 0 && places[k] == places[k - 1])) continue;
      ns += costs_.link_ns(value, producer_target.second, places[k].second);
      ++others;
    }
    // The cost of a copy between two segments of one target is that of copying out and of copying in. The value is copied out once, so half
    // of that cost is subtracted for each further reader.
    return others > 1 ? ns - static_cast<double>(others - 1) * costs_.link_ns(value, producer_target.second, producer_target.second) / 2
                      : ns;
  }

  const Costs& costs_;
  const Problem& problem_;
  const Cut& cut_;
  std::vector<std::vector<uint32_t>> nodes_, values_;  ///< of segments
  std::vector<bool> is_kept_, dropped_;
};

}  // namespace

std::vector<uint32_t> unprofitable_units(const Costs& costs, const Problem& problem, const Cut& cut) {
  return ProfitAnalysis(costs, problem, cut).run();
}

double predicted_ns(const Costs& costs, const Problem& problem, const Cut& cut) { return ProfitAnalysis(costs, problem, cut).predicted(); }

}  // namespace tenon::partition
