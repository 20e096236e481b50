// SPDX-License-Identifier: Apache-2.0
#include "rewrite/why/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "base/contains.h"
#include "rewrite/driver/apply.h"
#include "rewrite/why/equation.h"

namespace tenon::rewrite {
namespace {

using WhyOutcome = Why::Outcome;

/// Limits of the breadth-first search for hypotheses: how many together, how many states of one level, how many attempts in all.
constexpr size_t kMostHypotheses = 3, kWidth = 8, kMostAttempts = 300;

std::string outside_use_text(const GraphQuery& query, const ir::Use& use) {
  if (use.is_output()) return "were no graph output";
  const bool captured = use.slot >= query.node(use.node).explicit_inputs;
  return captured ? fmt::format("were not captured by a body of {}", describe(query, use.node))
                  : fmt::format("had no other user: used by {}", describe(query, use.node));
}

/// The uses outside of the match for which the driver would refuse it, one sentence for each.
std::vector<std::string> outside_uses(const GraphQuery& query, const CompiledRule& rule, std::span<const NodeId> nodes,
                                      std::span<const NodeId> roots, std::span<const Hypothesis> hypotheses) {
  std::vector<std::string> out;
  if (rule.allow_outside_uses) return out;
  const auto inside = [&](NodeId node) {
    return contains(nodes, node) || std::ranges::any_of(hypotheses, [&](const Hypothesis& s) { return s.node == node; });
  };
  for (NodeId node : nodes) {
    if (contains(roots, node)) continue;
    for (ValueId result : query.node(node).outputs) {
      if (!result) continue;
      for (const ir::Use& use : query.value(result).uses)
        if (use.is_output() || !inside(use.node))
          out.push_back(fmt::format("'{}' {}", query.value(result).name, outside_use_text(query, use)));
    }
  }
  return out;
}

std::vector<std::string> protected_nodes(const GraphQuery& query, const WhyOptions& options, std::span<const NodeId> nodes) {
  std::vector<std::string> out;
  if (!options.keep) return out;
  for (NodeId node : nodes)
    if (is_kept(query.graph(), node, *options.keep)) out.push_back(fmt::format("node {} were not kept by name", describe(query, node)));
  return out;
}

/// All changes of the graph or the options without which the driver refuses a match.
std::vector<std::string> objections(const GraphQuery& query, const CompiledRule& rule, const WhyOptions& options,
                                    std::span<const NodeId> nodes, std::span<const NodeId> roots, std::span<const Hypothesis> hypotheses) {
  auto out = outside_uses(query, rule, nodes, roots, hypotheses);
  std::ranges::move(protected_nodes(query, options, nodes), std::back_inserter(out));
  if (rule.numerics > options.allowed) out.push_back(fmt::format("{} rules were allowed", name_of(rule.numerics)));
  return out;
}

std::vector<NodeId> roots_of(NodeId root, std::span<const NodeId> others) {
  std::vector<NodeId> out{root};
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

/// Hypotheses, and the mismatches that are left under them.
struct NearMiss {
  std::vector<Hypothesis> hypotheses;
  std::vector<MismatchRecord> mismatches;
};

/// Each set of hypotheses that extends those of the state by one.
std::vector<std::vector<Hypothesis>> with_one_more_hypothesis(const Equation& equation, const Graph& graph, const NearMiss& state) {
  std::vector<std::vector<Hypothesis>> out;
  for (size_t i = 0; i < state.mismatches.size() && i < kWidth * 2; ++i)
    for (Hypothesis& more : hypotheses_for(equation, graph, state.mismatches[i])) {
      out.push_back(state.hypotheses);
      out.back().push_back(std::move(more));
    }
  return out;
}

/// The fewest changes under which the equation matches; breadth first.
void seek_near_miss(Why& why, const Graph& graph, const CompiledRule& rule, NodeId node, const WhyOptions& options, TrialResult first) {
  const Equation& equation = *rule.equation;
  const size_t most = std::min(kMostHypotheses, std::max<size_t>(1, static_cast<size_t>(why.parts) / 4));
  std::vector<NearMiss> frontier{{{}, std::move(first.mismatches)}};
  size_t attempts = 0;
  for (size_t level = 1; level <= most; ++level) {
    std::vector<NearMiss> next;
    for (const NearMiss& state : frontier)
      for (std::vector<Hypothesis>& all : with_one_more_hypothesis(equation, graph, state)) {
        if (++attempts > kMostAttempts) return;
        TrialResult trial = try_equation(equation, graph, node, all);
        if (trial.matched) {
          for (const Hypothesis& s : all) why.would_do.push_back(s.text);
          const auto roots = roots_of(node, trial.other_roots);
          std::ranges::move(objections(GraphQuery(graph), rule, options, trial.nodes, roots, all), std::back_inserter(why.would_do));
          return;
        }
        if (next.size() < kWidth) next.push_back({std::move(all), std::move(trial.mismatches)});
      }
    frontier = std::move(next);
  }
}

void explain_equation(Why& why, const Graph& graph, const CompiledRule& rule, NodeId node, const WhyOptions& options) {
  TrialResult trial = try_equation(*rule.equation, graph, node, {});
  if (trial.mismatches.empty()) return;
  const MismatchRecord& deepest = trial.mismatches[0];
  why.depth = deepest.depth;
  why.at = deepest.at;
  why.expected = deepest.expected;
  why.found = deepest.found;
  for (NodeId m : deepest.matched) why.matched.push_back(describe(GraphQuery(graph), m));
  if (deepest.depth == 0 && deepest.mismatch.kind == Mismatch::Kind::op) {
    why.outcome = WhyOutcome::elsewhere;
    return;
  }
  if (options.near_misses) seek_near_miss(why, graph, rule, node, options, std::move(trial));
}

/// The reason of a code rule; else its last and deepest failed query.
void explain_code(Why& why, const Match& match, const MatchTrace& trace) {
  const GraphQuery query(match.graph());
  why.depth = static_cast<int>(match.nodes.size());
  for (NodeId m : match.nodes) why.matched.push_back(describe(query, m));
  if (!match.reason().empty()) {
    why.reason = match.reason();
    if (match.refused_at()) why.at = describe(query, match.refused_at());
    return;
  }
  const auto last =
      std::ranges::max_element(trace.failed_queries.rbegin(), trace.failed_queries.rend(), {}, &MatchTrace::FailedQuery::depth);
  if (last == trace.failed_queries.rend()) return;
  why.expected = last->expected;
  why.found = describe(query, last->value);
}

bool starts_at(const CompiledRule& rule, const Node& node) {
  if (rule.roots.empty()) return true;
  const std::string own = node.op->domain.empty() ? node.op->name : node.op->domain + "::" + node.op->name;
  return std::ranges::any_of(rule.roots, [&](const std::string& root) { return root == "*" || root == own; });
}

/// Whether the driver would apply or refuse the match, and why.
void explain_match(Why& why, const Match& match, const CompiledRule& rule, const WhyOptions& options) {
  const GraphQuery query(match.graph());
  why.depth = why.parts > 0 ? why.parts : static_cast<int>(match.nodes.size());
  for (NodeId m : match.nodes) why.matched.push_back(describe(query, m));
  why.would_do = objections(query, rule, options, match.nodes, roots_of(match.root(), match.other_roots), {});
  why.outcome = why.would_do.empty() ? WhyOutcome::applies : WhyOutcome::refused;
  if (const auto reason = conflict_of(match, rule); !reason.empty()) why.reason = reason;
  else if (!why.would_do.empty())
    why.reason = rule.numerics > options.allowed ? "its numerics class is not allowed" : "a node is kept by name";
}

/// On a copy: the graph stays as it is.
void carry_out(Why& why, const Graph& graph, const CompiledRule& rule, NodeId node, const WhyOptions& options) {
  const auto copy = graph.clone();
  Journal journal(*copy);
  copy->set_listener(&journal);
  const Check none;
  Attempt attempt(*copy, journal, none);
  Match match(*copy, node, options.args);
  MatchTrace trace;
  match.set_trace(&trace);
  rewrite::Outcome outcome = attempt.decide(rule, match);
  if (outcome.kind == rewrite::Outcome::Kind::applied) outcome = attempt.carry_out(rule, match);
  copy->set_listener(nullptr);
  using Kind = rewrite::Outcome::Kind;
  if (outcome.kind == Kind::applied) {
    if (why.outcome == WhyOutcome::no_match) why.outcome = WhyOutcome::applies;
    return;
  }
  if (outcome.kind == Kind::no_match) return explain_code(why, match, trace);
  why.outcome = WhyOutcome::refused;
  why.reason = outcome.reason;
}

bool matches(const CompiledRule& rule, Match& match) {
  try {
    return rule.equation ? rule.equation->match(match) : !rule.match || rule.match(match);
  } catch (const std::exception&) { return false; }
}

/// The number of parts of a term, of alternatives the largest.
int parts_of(const Equation& e, int term) {
  const Term& t = e.terms[static_cast<size_t>(term)];
  int parts = t.kind == Term::Kind::op || t.operands.empty() ? t.kind != Term::Kind::variadic : 0;
  for (int o : t.operands) parts = t.kind == Term::Kind::alternatives ? std::max(parts, parts_of(e, o)) : parts + parts_of(e, o);
  return parts;
}

}  // namespace

std::string_view name_of(Why::Outcome outcome) {
  static constexpr std::string_view kNames[] = {"applies", "refused", "no_match", "elsewhere"};
  return kNames[static_cast<int>(outcome)];
}

Why why(const Graph& graph, const CompiledRule& rule, NodeId node, const WhyOptions& options) {
  Why out;
  out.rule = rule.name;
  out.node = fmt::format("node {}", describe(GraphQuery(graph), node));
  if (rule.equation)
    for (int root : rule.equation->left) out.parts += parts_of(*rule.equation, root);
  if (!rule.equation && !starts_at(rule, graph.node(node))) {
    out.outcome = WhyOutcome::elsewhere;
    out.expected = fmt::format("{}", fmt::join(rule.roots, " or "));
    out.found = graph.node(node).op->name;
    return out;
  }
  if (rule.match_and_rewrite) {
    carry_out(out, graph, rule, node, options);
    return out;
  }
  Match match(graph, node, options.args);
  MatchTrace trace;
  if (!rule.equation) match.set_trace(&trace);
  if (matches(rule, match)) {
    explain_match(out, match, rule, options);
    if (out.outcome == WhyOutcome::applies && options.try_rewrite && !rule.analyse) carry_out(out, graph, rule, node, options);
  } else if (rule.equation) {
    explain_equation(out, graph, rule, node, options);
  } else {
    explain_code(out, match, trace);
  }
  return out;
}

namespace {

void visit(const Graph& graph, const std::function<void(const Graph&, NodeId)>& each) {
  for (NodeId node : graph.nodes()) {
    each(graph, node);
    for (const ir::Body& body : graph.node(node).bodies) visit(*body.graph, each);
  }
}

int rank_of(const Why& w) { return w.outcome == WhyOutcome::applies ? 2 : w.outcome == WhyOutcome::refused ? 1 : 0; }

}  // namespace

std::vector<Why> best_partial_matches(const Graph& graph, const CompiledRule& rule, size_t most, const WhyOptions& options) {
  struct Place {
    const Graph* graph;
    NodeId node;
    size_t order;
    Why why;
  };
  WhyOptions quick = options;
  quick.near_misses = quick.try_rewrite = false;
  std::vector<Place> places;
  visit(graph, [&](const Graph& g, NodeId node) {
    Why w = why(g, rule, node, quick);
    if (w.outcome != WhyOutcome::elsewhere) places.push_back({&g, node, places.size(), std::move(w)});
  });
  std::ranges::sort(places, {}, [](const Place& p) { return std::tuple(-rank_of(p.why), -p.why.depth, p.order); });
  if (places.size() > most) places.resize(most);
  std::vector<Why> out;
  for (Place& p : places) {
    const bool again = options.near_misses && p.why.outcome == WhyOutcome::no_match && !rule.match_and_rewrite;
    out.push_back(again ? why(*p.graph, rule, p.node, options) : std::move(p.why));
  }
  return out;
}

std::string Why::text() const {
  std::string out = fmt::format("{} at {}: ", rule, node);
  if (outcome == WhyOutcome::applies) return out + "it applies";
  if (outcome == WhyOutcome::elsewhere) return out + fmt::format("it starts at {}, not at {}", expected, found);
  out += outcome == WhyOutcome::refused ? fmt::format("it matches, and is refused: {}", reason) : "it does not match";
  if (outcome == WhyOutcome::no_match && parts > 0) out += fmt::format(" ({} of {} parts do)", depth, parts);
  if (!matched.empty() && outcome == WhyOutcome::no_match) out += fmt::format("\n  matched:  {}", fmt::join(matched, ", "));
  if (outcome == WhyOutcome::no_match && !reason.empty()) out += fmt::format("\n  reason:   {}", reason);
  if (!at.empty()) out += fmt::format("\n  at:       {}", at);
  if (!expected.empty()) out += fmt::format("\n  expected: {}", expected);
  if (!found.empty()) out += fmt::format("\n  found:    {}", found);
  if (!would_do.empty())
    out += fmt::format("\n  it {} if {}", outcome == WhyOutcome::refused ? "would apply" : "would match", fmt::join(would_do, ", and if "));
  return out;
}

}  // namespace tenon::rewrite
