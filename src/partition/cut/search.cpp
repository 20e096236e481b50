// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/search.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <string_view>
#include <unordered_map>

namespace tenon::partition {

namespace {

using Bits = std::vector<uint64_t>;  ///< a set of nodes: one bit for each

struct Hash {
  size_t operator()(const Bits& b) const {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(b.data()), b.size() * sizeof(uint64_t)});
  }
};

/// Best-first search (A*) over sets of nodes that have run. Each step runs a segment: all nodes of one target that can run.
class Search {
 public:
  Search(const Problem& problem, const Chains& chains, Cut found, uint64_t budget)
      : problem_(problem), chains_(chains), found_(std::move(found)), budget_(budget), words_((problem.nodes.size() + 63) / 64) {
    for (uint32_t n = 0; n < problem.size(); ++n) visits_per_step_ += 1 + problem.predecessors(n).size();
  }

  /// The best cut that it finds within the budget.
  Cut run() {
    open(Bits(words_), {});
    while (!open_.empty()) {
      const Entry top = open_.top();
      found_.lower_bound = std::min(top.bound, found_.size());
      if (!found_.proved() && visits_done_ > budget_) found_.stopped_after_visits = visits_done_;
      if (found_.proved() || visits_done_ > budget_) return std::move(found_);
      open_.pop();
      const State state = states_[top.state];
      if (best_.at(state.done) != state.segments) continue;  // reached again with fewer
      for (uint16_t t = 0; t < problem_.targets; ++t)
        if (state.segments == 0 || t != state.last) expand(top.state, state, t);
    }
    found_.lower_bound = found_.size();
    return std::move(found_);
  }

 private:
  struct State {
    Bits done;              ///< nodes that have run
    uint32_t segments = 0;  ///< that have run
    uint32_t previous = 0;  ///< state before the last segment
    uint16_t last = 0;      ///< target of the last segment
  };
  /// A priority queue entry. Its order does not depend on the numbering of nodes, so the cut does not either.
  struct Entry {
    uint32_t bound;
    size_t remaining_nodes;
    uint32_t state;
    bool operator<(const Entry& o) const { return std::tie(bound, remaining_nodes, state) > std::tie(o.bound, o.remaining_nodes, o.state); }
  };

  static bool has(const Bits& bits, uint32_t n) { return bits[n / 64] >> (n % 64) & 1; }

  /// Adds the state after a further segment of target `t`.
  void expand(uint32_t from, const State& state, uint16_t t) {
    Bits done = state.done;
    bool any = false;
    visits_done_ += visits_per_step_;
    for (uint32_t n = 0; n < problem_.size(); ++n) {
      if (problem_.nodes[n].target != t || has(done, n)) continue;
      if (!std::ranges::all_of(problem_.predecessors(n), [&](uint32_t before) { return has(done, before); })) continue;
      done[n / 64] |= uint64_t{1} << (n % 64);
      any = true;
    }
    if (any) open(std::move(done), {.done = {}, .segments = state.segments + 1, .previous = from, .last = t});
  }

  /// Adds the state, with these nodes done, to the queue if it may lead to a better cut; a complete one becomes found_.
  void open(Bits done, State state) {
    const auto [at, is_new] = best_.try_emplace(done, state.segments);
    if (!is_new && at->second <= state.segments) return;
    at->second = state.segments;
    state.done = std::move(done);
    const auto [rest, left] = bound_of(state.done);
    const uint32_t bound = state.segments + rest;
    if (bound >= found_.size()) return;
    const auto id = static_cast<uint32_t>(states_.size());
    states_.push_back(std::move(state));
    if (left == 0) finish(id);
    else open_.push({bound, left, id});
  }

  /// A lower bound on the segments of the nodes that have not run, and the number of these nodes.
  std::pair<uint32_t, size_t> bound_of(const Bits& done) const {
    uint32_t longest = 0, starts = 0;
    uint64_t targets = 0;
    size_t left = 0;
    for (uint32_t n = 0; n < problem_.size(); ++n) {
      if (has(done, n)) continue;
      ++left;
      const uint32_t length = chains_.length(n);
      if (length < longest) continue;
      if (length > longest) targets = 0;
      longest = length;
      targets |= uint64_t{1} << (problem_.nodes[n].target % 64);
    }
    starts = static_cast<uint32_t>(std::popcount(targets));
    return {longest + (starts > 1), left};
  }

  /// Sets found_ to the cut whose segments lead to that state.
  void finish(uint32_t last) {
    std::vector<uint32_t> path;
    for (uint32_t s = last; s != 0; s = states_[s].previous) path.push_back(s);
    std::ranges::reverse(path);
    found_.targets.clear();
    for (uint32_t k = 0; k < path.size(); ++k) {
      const Bits &before = states_[states_[path[k]].previous].done, &after = states_[path[k]].done;
      for (uint32_t n = 0; n < problem_.size(); ++n)
        if (has(after, n) && !has(before, n)) found_.segment_of[n] = k;
      found_.targets.push_back(states_[path[k]].last);
    }
  }

  const Problem& problem_;
  const Chains& chains_;
  Cut found_;                                                ///< the best cut so far
  uint64_t budget_, visits_done_ = 0, visits_per_step_ = 0;  ///< visits of nodes and edges: allowed; so far; of one expand()
  size_t words_;                                             ///< of Bits
  std::vector<State> states_;
  std::unordered_map<Bits, uint32_t, Hash> best_;  ///< for a set of nodes that have run: the fewest segments that reach it
  std::priority_queue<Entry> open_;                ///< states that are to be expanded, those of the least bound first
};

}  // namespace

Cut search(const Problem& problem, const Chains& chains, Cut found, uint64_t budget) {
  return Search(problem, chains, std::move(found), budget).run();
}

}  // namespace tenon::partition
