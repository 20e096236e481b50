// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/history.h"

#include <algorithm>

namespace tenon::rewrite {

int History::record(uint32_t rule, std::span<const ir::NodeId> matched, std::span<const ir::NodeId> made) {
  uint32_t before = kNone;
  for (ir::NodeId node : matched) {
    if (node.slot() >= step_of_.size() || step_of_[node.slot()] == kNone) continue;
    const uint32_t step = step_of_[node.slot()];
    if (before == kNone || steps_[step].depth > steps_[before].depth) before = step;
  }
  const int depth = before == kNone ? 1 : steps_[before].depth + 1;
  const auto index = static_cast<uint32_t>(steps_.size());
  steps_.push_back({rule, before, depth});
  for (ir::NodeId node : made) {
    if (node.slot() >= step_of_.size()) step_of_.resize(node.slot() + 1, kNone);
    step_of_[node.slot()] = index;
  }
  return depth;
}

void History::forget(std::span<const ir::NodeId> nodes) {
  for (ir::NodeId node : nodes)
    if (node.slot() < step_of_.size()) step_of_[node.slot()] = kNone;
}

std::vector<uint32_t> History::cycle() const {
  std::vector<uint32_t> rules;  // newest first
  for (uint32_t step = steps_.empty() ? kNone : static_cast<uint32_t>(steps_.size()) - 1; step != kNone && rules.size() < 64;
       step = steps_[step].before)
    rules.push_back(steps_[step].rule);
  for (size_t period = 1; period <= rules.size() / 3; ++period) {
    const auto repeats = [&](size_t i) { return rules[i] == rules[i - period]; };
    size_t same = period;
    while (same < rules.size() && repeats(same)) ++same;
    if (same < rules.size()) continue;
    rules.resize(period);
    break;
  }
  if (rules.size() > 8) rules.resize(8);
  std::ranges::reverse(rules);
  return rules;
}

}  // namespace tenon::rewrite
