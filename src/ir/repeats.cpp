// SPDX-License-Identifier: Apache-2.0
#include "ir/repeats.h"

#include <algorithm>

namespace tenon::ir {
namespace {

constexpr size_t kSmallestBlock = 4;

size_t hash(const Graph& graph, const Node& n) {
  size_t h = std::hash<const Op*>{}(n.op);
  auto mix = [&](size_t v) { h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2); };
  for (const auto& [key, value] : n.attributes) {
    mix(std::hash<std::string>{}(key));
    mix(hash_of(value));
  }
  for (ValueId v : n.outputs) mix(v ? std::hash<std::string>{}(graph.value(v).type.text()) : 0);
  return h;
}

/// Appends the repeats of the nodes begin..end: that with most nodes after its first block, and those before and after it.
void find_between(const std::vector<size_t>& hashes, size_t begin, size_t end, size_t longest_block, std::vector<Repeat>& out) {
  Repeat best;
  const size_t longest = std::min(longest_block, (end - begin) / 2);
  for (size_t period = kSmallestBlock; period <= longest; ++period) {
    size_t run = 0;
    for (size_t i = begin; i + period < end; ++i) {
      run = hashes[i] == hashes[i + period] ? run + 1 : 0;
      if (run < period) continue;
      const Repeat found{i + 1 - run, period, run / period + 1};
      if (found.node_count() - period > best.node_count() - best.period) best = found;
    }
  }
  if (best.count < 2) return;
  find_between(hashes, begin, best.first, longest_block, out);
  out.push_back(best);
  find_between(hashes, best.first + best.node_count(), end, longest_block, out);
}

}  // namespace

std::vector<Repeat> find_repeats(const Graph& graph, size_t longest_block) {
  std::vector<size_t> hashes;
  for (NodeId n : graph.nodes()) hashes.push_back(hash(graph, graph.node(n)));
  std::vector<Repeat> out;
  find_between(hashes, 0, hashes.size(), longest_block, out);
  return out;
}

}  // namespace tenon::ir
