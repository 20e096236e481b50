// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/walk.h"

#include <algorithm>
#include <array>

#include "base/result.h"
#include "partition/cut/chains.h"

namespace tenon::partition {

namespace {

/// A segment that is still open: its nodes, and which nodes depend on them directly.
struct OpenSegment {
  std::vector<uint32_t> nodes;
  std::vector<bool> dependents;  ///< by node: it depends on one in `nodes`

  explicit OpenSegment(size_t node_count) : dependents(node_count) {}
  void add(uint32_t node, const Successors& successors) {
    nodes.push_back(node);
    for (uint32_t f : successors[node]) dependents[f] = true;
  }
  void clear() {
    nodes.clear();
    dependents.assign(dependents.size(), false);
  }
};

/// See walk().
class TwoSegmentWalk {
 public:
  TwoSegmentWalk(Problem& problem, uint32_t min_size)
      : problem_(problem), successors_(problem), min_size_(min_size), out_{Cut(problem.nodes.size()), {}} {}

  SizedCut run() {
    while (drop_small_runs()) {}
    cut();
    merge();
    const Chains chains(problem_);
    out_.cut.lower_bound = problem_.nodes.empty() ? 0 : Remaining(problem_, chains).bound();
    std::ranges::sort(out_.dropped);
    return std::move(out_);
  }

 private:
  static constexpr uint16_t kAccelerated = 0, kFallback = 1;

  bool is_small(const std::vector<uint32_t>& nodes) const {
    return nodes.size() < min_size_ && std::ranges::none_of(nodes, [&](uint32_t n) { return problem_.nodes[n].pinned; });
  }
  /// Moves the nodes to the fallback.
  void drop(const std::vector<uint32_t>& nodes) {
    for (uint32_t n : nodes) problem_.nodes[n].target = kFallback;
    out_.dropped.insert(out_.dropped.end(), nodes.begin(), nodes.end());
  }

  /// Drops sequences of accelerated nodes that are too small for a segment. False: there was none.
  bool drop_small_runs() {
    OpenSegment run(problem_.nodes.size());
    const size_t before = out_.dropped.size();
    const auto close = [&] {
      if (is_small(run.nodes)) drop(run.nodes);
      run.clear();
    };
    for (uint32_t n = 0; n < problem_.size(); ++n) {
      if (problem_.nodes[n].target == kAccelerated) run.add(n, successors_);
      else if (run.dependents[n]) close();
    }
    close();
    return out_.dropped.size() > before;
  }

  /// Walks over the nodes in order; keeps one open segment for each of the two targets.
  void cut() {
    std::array<OpenSegment, 2> open = {OpenSegment(problem_.nodes.size()), OpenSegment(problem_.nodes.size())};
    for (uint32_t n = 0; n < problem_.size(); ++n) {
      const uint16_t target = problem_.nodes[n].target;
      OpenSegment &own = open[target], &other = open[1 - target];
      if (other.dependents[n]) {
        if (target == kFallback && is_small(other.nodes)) move_to_fallback(other, own);
        else emit(other, 1 - target);
      }
      if (problem_.nodes[n].has_bodies) emit(own, target);
      own.add(n, successors_);
      if (problem_.nodes[n].has_bodies) emit(own, target, true);
    }
    if (is_small(open[kAccelerated].nodes)) move_to_fallback(open[kAccelerated], open[kFallback]);
    emit(open[kAccelerated], kAccelerated);
    emit(open[kFallback], kFallback);
  }

  void move_to_fallback(OpenSegment& small, OpenSegment& into) {
    drop(small.nodes);
    for (uint32_t n : small.nodes) into.add(n, successors_);
    small.clear();
  }

  /// Adds the open segment to the cut and clears it.
  void emit(OpenSegment& run, int target, bool has_bodies = false) {
    if (run.nodes.empty()) return;
    for (uint32_t n : run.nodes) out_.cut.segment_of[n] = out_.cut.size();
    out_.cut.targets.push_back(static_cast<uint16_t>(target));
    has_bodies_.push_back(has_bodies);
    run.clear();
  }

  /// Joins consecutive segments of one target, but for those of branches and loops.
  void merge() {
    std::vector<uint32_t> number(out_.cut.size());
    std::vector<uint16_t> targets;
    for (uint32_t s = 0; s < out_.cut.size(); ++s) {
      const bool joins = s > 0 && !has_bodies_[s] && !has_bodies_[s - 1] && out_.cut.targets[s] == out_.cut.targets[s - 1];
      if (!joins) targets.push_back(out_.cut.targets[s]);
      number[s] = static_cast<uint32_t>(targets.size()) - 1;
    }
    for (uint32_t& segment : out_.cut.segment_of) segment = number[segment];
    out_.cut.targets = std::move(targets);
  }

  Problem& problem_;
  Successors successors_;
  uint32_t min_size_;
  SizedCut out_;
  std::vector<bool> has_bodies_;  ///< of each segment
};

}  // namespace

SizedCut walk(Problem& problem, uint32_t min_size) {
  TENON_ASSERT(problem.fallback == 1 && std::ranges::all_of(problem.nodes, [](const Problem::Node& n) { return n.target < 2; }));
  return TwoSegmentWalk(problem, min_size).run();
}

}  // namespace tenon::partition
