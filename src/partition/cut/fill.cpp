// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/fill.h"

#include <algorithm>

namespace tenon::partition {

namespace {

struct Sizes {
  std::vector<uint32_t> counted;
  std::vector<bool> exempt;  ///< not accelerated, or with a pinned node
};

Sizes sizes_of(const Problem& problem, const Cut& cut) {
  Sizes out{std::vector<uint32_t>(cut.size()), std::vector<bool>(cut.size())};
  for (uint32_t s = 0; s < cut.size(); ++s) out.exempt[s] = cut.targets[s] >= problem.fallback;
  for (uint32_t n = 0; n < problem.size(); ++n) {
    out.counted[cut.place[n]] += problem.nodes[n].counts;
    if (problem.nodes[n].pinned) out.exempt[cut.place[n]] = true;
  }
  return out;
}

class Fill {
 public:
  Fill(const Problem& problem, Cut& cut, uint32_t least)
      : problem_(problem),
        cut_(cut),
        least_(least),
        successors_(problem),
        sizes_(sizes_of(problem, cut)),
        at_(cut.size()),
        latest_(problem.nodes.size()) {
    find_latest();
    for (uint32_t n = 0; n < problem.size(); ++n) at_[cut.place[n]].push_back(n);
    for (std::vector<uint32_t>& nodes : at_) std::ranges::sort(nodes, {}, [&](uint32_t n) { return problem.nodes[n].key; });
  }

  void run() {
    std::vector<uint32_t> small;
    for (uint32_t s = 0; s < cut_.size(); ++s)
      if (is_small(s)) small.push_back(s);
    std::ranges::sort(small, {}, [&](uint32_t s) { return std::pair(least_ - sizes_.counted[s], s); });
    for (uint32_t s : small) fill(s);
  }

 private:
  struct Move {
    uint32_t node, from;
  };

  bool is_small(uint32_t segment) const { return !sizes_.exempt[segment] && sizes_.counted[segment] < least_; }

  /// The last segment of the node's target in which it may run, with all other nodes as late as possible.
  void find_latest() {
    std::vector<std::vector<uint32_t>> of_target(problem_.targets, std::vector<uint32_t>(cut_.size(), UINT32_MAX));
    for (uint16_t t = 0; t < problem_.targets; ++t)
      for (uint32_t s = 0, last = UINT32_MAX; s < cut_.size(); ++s) of_target[t][s] = last = cut_.targets[s] == t ? s : last;
    for (uint32_t n = problem_.size(); n-- > 0;) {
      uint32_t limit = cut_.size() - 1;
      for (uint32_t f : successors_[n]) limit = std::min(limit, latest_[f]);
      latest_[n] = of_target[problem_.nodes[n].target][limit];
      reach_ = std::max(reach_, latest_[n] - cut_.place[n]);
    }
  }

  void fill(uint32_t segment) {
    if (!is_small(segment)) return;  // filled by what another one pushed on
    const size_t start = moves_.size();
    for (uint32_t from = segment; from-- > 0 && segment - from <= reach_ && is_small(segment);)
      if (cut_.targets[from] == cut_.targets[segment])
        for (uint32_t n : at_[from])
          if (cut_.place[n] == from && latest_[n] >= segment && is_small(segment)) try_move(n, segment);
    if (is_small(segment)) undo(start);
    else moves_.clear();
  }

  /// With all that must follow; not where a large segment becomes small by it.
  void try_move(uint32_t node, uint32_t to) {
    const size_t start = moves_.size();
    std::vector<std::pair<uint32_t, uint32_t>> open = {{node, to}};
    while (!open.empty()) {
      const auto [n, least] = open.back();
      open.pop_back();
      if (cut_.place[n] >= least) continue;
      uint32_t place = least;
      while (cut_.targets[place] != problem_.nodes[n].target) ++place;  // stops at latest_[n], if not before
      if (!shift(n, place)) return undo(start);
      for (uint32_t f : successors_[n]) open.emplace_back(f, place);
    }
  }

  bool shift(uint32_t node, uint32_t to) {
    const uint32_t from = cut_.place[node];
    if (problem_.nodes[node].pinned) return false;  // it is what keeps its segment
    const bool was_small = is_small(from);
    moves_.push_back({node, from});
    put(node, to);
    return was_small || !is_small(from);
  }

  void put(uint32_t node, uint32_t to) {
    sizes_.counted[cut_.place[node]] -= problem_.nodes[node].counts;
    sizes_.counted[to] += problem_.nodes[node].counts;
    cut_.place[node] = to;
  }

  void undo(size_t start) {
    while (moves_.size() > start) {
      put(moves_.back().node, moves_.back().from);
      moves_.pop_back();
    }
  }

  const Problem& problem_;
  Cut& cut_;
  uint32_t least_, reach_ = 0;
  Successors successors_;
  Sizes sizes_;
  std::vector<std::vector<uint32_t>> at_;  ///< the nodes of each segment at the start
  std::vector<uint32_t> latest_;
  std::vector<Move> moves_;
};

}  // namespace

std::vector<bool> large_enough(const Problem& problem, const Cut& cut, uint32_t least) {
  Sizes sizes = sizes_of(problem, cut);
  for (uint32_t s = 0; s < cut.size(); ++s)
    if (sizes.counted[s] >= least) sizes.exempt[s] = true;
  return std::move(sizes.exempt);
}

void fill(const Problem& problem, Cut& cut, uint32_t least) {
  if (cut.size() > 1) Fill(problem, cut, least).run();
}

}  // namespace tenon::partition
