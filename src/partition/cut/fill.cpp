// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/fill.h"

#include <algorithm>

namespace tenon::partition {

namespace {

/// By segment.
struct SegmentSizes {
  std::vector<uint32_t> work_nodes;  ///< number of nodes that do work
  std::vector<bool> exempt;          ///< need no minimum size: not accelerated, or with a pinned node
};

SegmentSizes sizes_of(const Problem& problem, const Cut& cut) {
  SegmentSizes out{std::vector<uint32_t>(cut.size()), std::vector<bool>(cut.size())};
  for (uint32_t s = 0; s < cut.size(); ++s) out.exempt[s] = cut.targets[s] >= problem.fallback;
  for (uint32_t n = 0; n < problem.size(); ++n) {
    out.work_nodes[cut.segment_of[n]] += problem.nodes[n].work_nodes;
    if (problem.nodes[n].pinned) out.exempt[cut.segment_of[n]] = true;
  }
  return out;
}

/// Moves nodes to later segments to fill small ones: see fill_small_segments().
class SegmentFiller {
 public:
  SegmentFiller(const Problem& problem, Cut& cut, uint32_t min_size)
      : problem_(problem),
        cut_(cut),
        min_size_(min_size),
        successors_(problem),
        sizes_(sizes_of(problem, cut)),
        initial_nodes_(cut.size()),
        latest_(problem.nodes.size()) {
    find_latest();
    for (uint32_t n = 0; n < problem.size(); ++n) initial_nodes_[cut.segment_of[n]].push_back(n);
    for (std::vector<uint32_t>& nodes : initial_nodes_) std::ranges::sort(nodes, {}, [&](uint32_t n) { return problem.nodes[n].key; });
  }

  void run() {
    std::vector<uint32_t> small;
    for (uint32_t s = 0; s < cut_.size(); ++s)
      if (is_small(s)) small.push_back(s);
    std::ranges::sort(small, {}, [&](uint32_t s) { return std::pair(min_size_ - sizes_.work_nodes[s], s); });
    for (uint32_t s : small) fill(s);
  }

 private:
  struct Move {
    uint32_t node, from;
  };

  bool is_small(uint32_t segment) const { return !sizes_.exempt[segment] && sizes_.work_nodes[segment] < min_size_; }

  /// Sets latest_: the last segment of each node's target in which it may run, with all other nodes as late as possible.
  void find_latest() {
    std::vector<std::vector<uint32_t>> of_target(problem_.targets, std::vector<uint32_t>(cut_.size(), UINT32_MAX));
    for (uint16_t t = 0; t < problem_.targets; ++t)
      for (uint32_t s = 0, last = UINT32_MAX; s < cut_.size(); ++s) of_target[t][s] = last = cut_.targets[s] == t ? s : last;
    for (uint32_t n = problem_.size(); n-- > 0;) {
      uint32_t limit = cut_.size() - 1;
      for (uint32_t f : successors_[n]) limit = std::min(limit, latest_[f]);
      latest_[n] = of_target[problem_.nodes[n].target][limit];
      max_distance_ = std::max(max_distance_, latest_[n] - cut_.segment_of[n]);
    }
  }

  /// Moves nodes from earlier small segments into the segment; undoes that where it stays small.
  void fill(uint32_t segment) {
    if (!is_small(segment)) return;  // nodes that other moves pushed into it made it large enough
    const size_t start = moves_.size();
    for (uint32_t from = segment; from-- > 0 && segment - from <= max_distance_ && is_small(segment);)
      if (cut_.targets[from] == cut_.targets[segment])
        for (uint32_t n : initial_nodes_[from])
          if (cut_.segment_of[n] == from && latest_[n] >= segment && is_small(segment)) try_move(n, segment);
    if (is_small(segment)) undo(start);
    else moves_.clear();
  }

  /// Moves a node and the successors that must move with it; undoes all where a large segment would become small.
  void try_move(uint32_t node, uint32_t to) {
    const size_t start = moves_.size();
    std::vector<std::pair<uint32_t, uint32_t>> open = {{node, to}};  // nodes, and the first segment in which each may run
    while (!open.empty()) {
      const auto [n, min_segment] = open.back();
      open.pop_back();
      if (cut_.segment_of[n] >= min_segment) continue;
      uint32_t segment = min_segment;
      while (cut_.targets[segment] != problem_.nodes[n].target) ++segment;  // stops at latest_[n], if not before
      if (!shift(n, segment)) return undo(start);
      for (uint32_t f : successors_[n]) open.emplace_back(f, segment);
    }
  }

  /// Moves one node. False: it may not move, or its segment became small.
  bool shift(uint32_t node, uint32_t to) {
    const uint32_t from = cut_.segment_of[node];
    if (problem_.nodes[node].pinned) return false;  // its segment is kept because of it
    const bool was_small = is_small(from);
    moves_.push_back({node, from});
    assign(node, to);
    return was_small || !is_small(from);
  }

  /// Assigns the node to the segment, without an entry in moves_.
  void assign(uint32_t node, uint32_t to) {
    sizes_.work_nodes[cut_.segment_of[node]] -= problem_.nodes[node].work_nodes;
    sizes_.work_nodes[to] += problem_.nodes[node].work_nodes;
    cut_.segment_of[node] = to;
  }

  /// Undoes the moves from moves_[start] on.
  void undo(size_t start) {
    while (moves_.size() > start) {
      assign(moves_.back().node, moves_.back().from);
      moves_.pop_back();
    }
  }

  const Problem& problem_;
  Cut& cut_;
  uint32_t min_size_;
  uint32_t max_distance_ = 0;  ///< between a node's segment and its latest_
  Successors successors_;
  SegmentSizes sizes_;
  std::vector<std::vector<uint32_t>> initial_nodes_;  ///< the nodes of each segment before any move
  std::vector<uint32_t> latest_;                      ///< see find_latest()
  std::vector<Move> moves_;                           ///< of the current fill(), in order
};

}  // namespace

std::vector<bool> large_enough(const Problem& problem, const Cut& cut, uint32_t min_size) {
  SegmentSizes sizes = sizes_of(problem, cut);
  for (uint32_t s = 0; s < cut.size(); ++s)
    if (sizes.work_nodes[s] >= min_size) sizes.exempt[s] = true;
  return std::move(sizes.exempt);
}

void fill_small_segments(const Problem& problem, Cut& cut, uint32_t min_size) {
  if (cut.size() > 1) SegmentFiller(problem, cut, min_size).run();
}

}  // namespace tenon::partition
