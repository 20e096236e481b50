// SPDX-License-Identifier: Apache-2.0
#include "partition/assign/max_flow.h"

#include <algorithm>
#include <cmath>

namespace tenon::partition {

void MaxFlow::link(uint32_t from, uint32_t to, double capacity) {
  if (capacity <= 0) return;
  const double scaled = capacity * kScale;
  const int64_t whole = scaled < static_cast<double>(kInfinite) ? std::llround(scaled) : kInfinite;
  edges_.push_back({to, first_[from], whole});
  first_[from] = static_cast<uint32_t>(edges_.size()) - 1;
  edges_.push_back({from, first_[to], 0});
  first_[to] = static_cast<uint32_t>(edges_.size()) - 1;
}

bool MaxFlow::find_levels() {
  level_.assign(first_.size(), kNone);
  level_[kSource] = 0;
  std::vector<uint32_t> queue = {kSource};
  for (size_t k = 0; k < queue.size(); ++k)
    for (uint32_t e = first_[queue[k]]; e != kNone; e = edges_[e].next)
      if (edges_[e].capacity > 0 && level_[edges_[e].to] == kNone) {
        level_[edges_[e].to] = level_[queue[k]] + 1;
        queue.push_back(edges_[e].to);
      }
  return level_[kSink] != kNone;
}

/// Along edges to the next level, with a stack of its own: paths may be as long as the graph.
int64_t MaxFlow::push(uint32_t from, int64_t most) {
  std::vector<uint32_t> path;
  uint32_t node = from;
  while (node != kSink) {
    uint32_t& e = at_[node];
    while (e != kNone && !(edges_[e].capacity > 0 && level_[edges_[e].to] == level_[node] + 1)) e = edges_[e].next;
    if (e != kNone) {
      path.push_back(e);
      node = edges_[e].to;
      continue;
    }
    if (path.empty()) return 0;
    level_[node] = kNone;  // a dead end
    node = edges_[path.back() ^ 1].to;
    path.pop_back();
  }
  for (uint32_t e : path) most = std::min(most, edges_[e].capacity);
  for (uint32_t e : path) {
    edges_[e].capacity -= most;
    edges_[e ^ 1].capacity += most;
  }
  return most;
}

std::vector<bool> MaxFlow::source_side() {
  while (find_levels()) {
    at_ = first_;
    while (push(kSource, kInfinite) > 0) {}
  }
  std::vector<bool> out(first_.size() - 2);
  for (size_t n = 0; n < out.size(); ++n) out[n] = level_[n + 2] != kNone;
  return out;
}

}  // namespace tenon::partition
