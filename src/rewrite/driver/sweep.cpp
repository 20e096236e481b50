// SPDX-License-Identifier: Apache-2.0
// Order `sweep`: rule by rule in their order, node by node in the graph's.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "rewrite/driver/run.h"

namespace tenon::rewrite {

/// The places that a rule's `screen` returns.
void Run::screen(uint32_t index, std::vector<RulePlace>& places) {
  try {
    const ScreenResult found = rules_[index].screen(graph_, stats_.sweeps, options_.args);
    stats_.rules[index].tried += found.tried - static_cast<int64_t>(found.nodes.size());  // these are counted when they are decided
    for (uint32_t at = 0; at < found.nodes.size(); ++at)
      if (graph_.alive(found.nodes[at])) places.push_back({index, at, found.nodes[at]});
  } catch (const std::exception& e) {
    disable_rule(index, fmt::format("rule {} was undone and left out: threw while matching: {}", rules_[index].name, e.what()));
  }
}

/// The rules and nodes that may match, in the order in which they are tried.
Result<std::vector<RulePlace>> Run::candidate_places() {
  std::vector<RulePlace> places;
  uint32_t at = 0;
  for (NodeId node : graph_.nodes()) {
    if (++stats_.visits % 1024 == 0) TRY(check_cancelled());
    ++at;
    if (stats_.sweeps == 1) worklist_.push(node);
    if (is_dead(graph_, node)) continue;
    rules_.candidates(graph_, node, candidates_);
    for (uint32_t index : candidates_)
      if (may_run(index) && !rules_[index].screen) places.push_back({index, at, node});
  }
  for (uint32_t index = 0; index < rules_.size(); ++index)
    if (rules_[index].screen && may_run(index)) screen(index, places);
  std::ranges::sort(places,
                    [](const RulePlace& a, const RulePlace& b) { return std::pair(a.rule, a.position) < std::pair(b.rule, b.position); });
  return places;
}

/// The places where rules match, of matches that share nodes the first.
std::vector<RulePlace> Run::select_disjoint_matches(std::span<const RulePlace> places) {
  std::unordered_set<NodeId> claimed;
  std::vector<RulePlace> chosen;
  for (const RulePlace& place : places) {
    if (!may_run(place.rule)) continue;
    Match match(graph_, place.node, options_.args);
    if (failed_matches_.contains({place.rule, place.node}) || !decide(place.rule, match)) continue;
    if (std::ranges::any_of(match.nodes, [&](NodeId n) { return claimed.contains(n); })) continue;
    // A rule that matches and rewrites in one go has not decided yet whether it matches, so it claims no nodes.
    if (!rules_[place.rule].match_and_rewrite) claimed.insert(match.nodes.begin(), match.nodes.end());
    chosen.push_back(place);
  }
  return chosen;
}

/// An earlier rewrite may have taken away what a later match was bound to: each is matched again before it is applied. True where it is
/// worth while to sweep again.
bool Run::carry_out_matches(std::span<const RulePlace> places) {
  bool changed = false;
  for (const RulePlace& place : places) {
    if (!graph_.alive(place.node) || !may_run(place.rule) || shared_.budget <= 0) continue;
    Match match(graph_, place.node, options_.args);
    record_progress(place.rule, place.node);
    if (attempt_.decide(rules_[place.rule], match).kind != Outcome::Kind::applied) continue;
    if (carry_out(place.rule, match)) {
      changed = true;
      failed_matches_.clear();
    } else if (!rules_[place.rule].match_and_rewrite) {
      // It has kept its nodes from others for nothing: those are visited in the next sweep, without it.
      changed |= failed_matches_.insert({place.rule, place.node}).second;
    }
  }
  return changed;
}

Result<bool> Run::sweep() {
  const auto places = TRY(candidate_places());
  bool changed = carry_out_matches(select_disjoint_matches(places));
  while (NodeId node = worklist_.pop(graph_)) {
    if (is_dead(graph_, node) && erase_dead(node) > 0) changed = stats_.changed = true;
    else if (options_.fold && fold(node)) changed = true;
  }
  return changed;
}

}  // namespace tenon::rewrite
