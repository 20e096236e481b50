// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/apply.h"

#include <algorithm>
#include <exception>
#include <ranges>

#include "base/contains.h"
#include "rewrite/driver/replace.h"
#include "rewrite/rewriter.h"

namespace tenon::rewrite {
namespace {

using OutcomeKind = Outcome::Kind;

constexpr size_t kMostSources = 64;  ///< names in Provenance::sources

/// New nodes go before the latest root: all operands of the match come before it.
NodeId insertion_point_of(const Match& match) {
  NodeId at = match.root();
  for (NodeId other : match.other_roots)
    if (match.graph().is_before(at, other)) at = other;
  return at;
}

bool is_tenon_key(std::string_view key) { return key.starts_with("tenon."); }

/// Removes the entries of `kept` that `more` has with another value.
void remove_conflicting(std::vector<std::pair<std::string, std::string>>& kept,
                        const std::vector<std::pair<std::string, std::string>>& more) {
  std::erase_if(kept, [&](const auto& entry) {
    const auto other = std::ranges::find(more, entry.first, &std::pair<std::string, std::string>::first);
    return other != more.end() && other->second != entry.second;
  });
}

/// Adds the names of the model's nodes that the node was made from; its own where it is a node of the model.
void add_sources(const Match& match, const Node& node, std::vector<std::string>& out) {
  if (!node.provenance || node.provenance->sources.empty()) {
    out.push_back(!node.name.empty() || !node.outputs[0] ? node.name : match.value(node.outputs[0]).name);
    return;
  }
  for (const std::string& source : node.provenance->sources)
    if (out.size() < kMostSources && std::ranges::find(out, source) == out.end()) out.push_back(source);
}

/// The provenance that all new nodes of a rewrite share.
std::shared_ptr<const ir::Provenance> provenance_of(const Match& match, const CompiledRule& rule) {
  ir::Provenance p{rule.name, {}};
  bool first = true;
  size_t most = 0;
  for (NodeId id : match.nodes) most += match.node(id).provenance ? std::max<size_t>(1, match.node(id).provenance->sources.size()) : 1;
  p.sources.reserve(std::min(most, kMostSources));
  for (NodeId id : match.nodes) {
    const Node& node = match.node(id);
    if (node.provenance) p.placement = node.provenance->placement;  // the same for all, see have_one_placement
    if (node.provenance && !node.provenance->metadata.empty()) {
      if (first) p.metadata = node.provenance->metadata;
      else remove_conflicting(p.metadata, node.provenance->metadata);
      first = false;
    }
    add_sources(match, node, p.sources);
  }
  std::erase_if(p.metadata, [](const auto& entry) { return is_tenon_key(entry.first); });
  return std::make_shared<const ir::Provenance>(std::move(p));
}

std::string_view element_conflict(const ir::Type& old, const ir::Type& new_type) {
  if (old.kind != new_type.kind || (old.dtype != new_type.dtype && old.dtype != DType::none && new_type.dtype != DType::none))
    return "the replacement has another element type";
  return {};
}

/// A replacement that is illegal in any graph.
std::string_view illegal_replacement(const ir::Graph& graph, ValueId from, ValueId to) {
  if (!from || !graph.alive(from)) return "the rule replaces a value that the graph does not have";
  if (!to) return "the rule gave no value";
  if (!graph.alive(to)) return "the rule gave a value that the graph does not have";
  return element_conflict(graph.value(from).type, graph.value(to).type);
}

}  // namespace

bool is_dead(const ir::Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op->has_effects || (node.op->unknown && node.outputs.empty())) return false;
  return std::ranges::all_of(node.outputs, [&](ValueId v) { return !v || graph.value(v).uses.empty(); });
}

namespace {

/// Whether all nodes of the match are placed on the same backend.
bool have_one_placement(const Match& match) {
  return std::ranges::all_of(match.nodes, [&](NodeId id) { return ir::same_placement(match.node(id), match.node(match.nodes[0])); });
}

}  // namespace

std::string_view conflict_of(const Match& match, const CompiledRule& rule) {
  if (!have_one_placement(match)) return "it would join nodes that are placed on different backends";
  if (rule.allow_outside_uses) return {};
  for (NodeId node : match.nodes) {
    if (node == match.root() || contains(match.other_roots, node)) continue;
    for (ValueId result : match.node(node).outputs) {
      if (!result) continue;
      for (const ir::Use& use : match.value(result).uses) {
        if (use.is_output()) return "a value inside the match is a graph output";
        if (contains(match.nodes, use.node)) continue;
        const Node& user = match.node(use.node);
        return use.slot >= user.explicit_inputs ? "a value inside the match is captured by a body"
                                                : "a value inside the match has users outside";
      }
    }
  }
  return {};
}

Outcome Attempt::decide(const CompiledRule& rule, Match& match) {
  journal_.begin();
  bool matched = false;
  std::string broken;
  try {
    matched = rule.equation ? rule.equation->match(match) : !rule.match || rule.match(match);
  } catch (const std::exception& e) { broken = std::string("it threw while matching: ") + e.what(); }
  if (!journal_.empty()) {
    journal_.undo();
    broken = "it changed the graph while matching";
  }
  if (!broken.empty()) return {OutcomeKind::broken, broken};
  if (!matched) return {OutcomeKind::no_match, std::string(match.reason())};
  if (const auto reason = conflict_of(match, rule); !reason.empty()) return {OutcomeKind::refused, std::string(reason)};
  return {OutcomeKind::applied, {}};
}

Outcome Attempt::carry_out(const CompiledRule& rule, Match& match) {
  journal_.begin();
  Rewriter rewriter(graph_, insertion_point_of(match));
  Outcome outcome = build(rule, match, rewriter);
  if (outcome.kind == OutcomeKind::applied) outcome = check(rule, match, rewriter);
  if (outcome.kind == OutcomeKind::applied) outcome = replace_all(rule, rewriter);
  if (outcome.kind != OutcomeKind::applied) journal_.undo();
  return outcome;
}

Outcome Attempt::build(const CompiledRule& rule, Match& match, Rewriter& rewriter) {
  bool done = false;
  try {
    if (rule.equation) done = rule.equation->rewrite(match, rewriter);
    else done = rule.rewrite ? rule.rewrite(match, rewriter) : rule.match_and_rewrite(match, rewriter);
  } catch (const std::exception& e) { return {OutcomeKind::broken, std::string("it threw while rewriting: ") + e.what()}; }
  if (!rewriter.status()) return {OutcomeKind::refused, rewriter.status().error()->what};
  if (!done && rule.match_and_rewrite) return {OutcomeKind::no_match, std::string(match.reason())};
  if (!done) return {OutcomeKind::refused, "the rule refused while building"};
  if (rewriter.replacements().empty() && journal_.empty())
    return {OutcomeKind::broken, "it said that it had rewritten, and nothing has changed"};
  if (rewriter.replacements().empty() && journal_.edits().empty() && journal_.nodes_with_new_attributes().empty())
    return {OutcomeKind::refused, "the rule refused while building"};
  if (const auto assumed = journal_.assumed(); !assumed.empty())
    return {OutcomeKind::refused, "it would take for granted what the model does not: " + assumed[0].text()};
  if (rule.match_and_rewrite)
    if (const auto reason = conflict_of(match, rule); !reason.empty()) return {OutcomeKind::refused, std::string(reason)};
  if (journal_.inserted_nodes().empty()) return {OutcomeKind::applied, {}};
  const auto provenance = provenance_of(match, rule);
  for (NodeId made : journal_.inserted_nodes()) graph_.set_provenance(made, provenance);
  return {OutcomeKind::applied, {}};
}

/// Whether nodes that existed before have other operands or attributes now.
static bool edits_in_place(const Journal& journal) {
  const auto is_old = [&](NodeId n) { return !contains(journal.inserted_nodes(), n); };
  return std::ranges::any_of(journal.edits(), is_old, &Journal::Edit::node) ||
         std::ranges::any_of(journal.nodes_with_new_attributes(), is_old);
}

Outcome Attempt::check(const CompiledRule& rule, const Match& match, const Rewriter& rewriter) {
  for (const auto& [from, to] : rewriter.replacements())
    if (const auto reason = illegal_replacement(graph_, from, to); !reason.empty()) return {OutcomeKind::broken, std::string(reason)};
  for (const Journal::Edit& e : journal_.edits()) {
    const ValueId now = e.node ? graph_.node(e.node).inputs[e.slot] : graph_.outputs()[e.slot];
    if (!now || !e.before) continue;
    const ir::Type &old = graph_.value(e.before).type, &new_type = graph_.value(now).type;
    const auto reason = rule.reshapes ? element_conflict(old, new_type) : type_conflict(old, new_type);
    if (!reason.empty()) return {OutcomeKind::broken, std::string(reason)};
  }
  if (rule.measure && rule.measure(graph_, journal_.inserted_nodes()) >= rule.measure(graph_, match.nodes))
    return {OutcomeKind::refused, "its measure does not go down"};
  if (!check_) return {OutcomeKind::applied, {}};
  std::vector<NodeId> made = journal_.inserted_nodes();
  std::ranges::sort(made, [&](NodeId a, NodeId b) { return graph_.is_before(a, b); });
  auto verdict = check_({graph_, rule, match, made, rewriter.replacements(), edits_in_place(journal_)});
  return verdict ? Outcome{OutcomeKind::applied, {}} : Outcome{OutcomeKind::broken, verdict.error().text()};
}

bool Attempt::has_reshaped(const CompiledRule& rule) const {
  return rule.reshapes && std::ranges::any_of(journal_.edits(), [this](const Journal::Edit& e) {
           const ValueId now = e.node ? graph_.node(e.node).inputs[e.slot] : ValueId{};
           return now && e.before && !(graph_.value(e.before).type == graph_.value(now).type);
         });
}

Outcome Attempt::replace_all(const CompiledRule& rule, const Rewriter& rewriter) {
  const size_t edits = journal_.edits().size();
  for (const auto& [from, to] : rewriter.replacements())
    if (std::string reason = try_replace_all_uses(graph_, from, to, journal_); !reason.empty())
      return {OutcomeKind::refused, std::move(reason)};
  std::vector<NodeId> changed = journal_.nodes_with_new_attributes();
  for (const Journal::Edit& e : journal_.edits() | std::views::take(edits))
    if (e.node) changed.push_back(e.node);
  if (has_reshaped(rule)) {
    if (Result<void> typed = retype(graph_, changed, journal_); !typed) return {OutcomeKind::broken, typed.error().text()};
  } else if (!changed.empty()) {
    reinfer(graph_, changed, journal_);
  }
  return {OutcomeKind::applied, {}};
}

}  // namespace tenon::rewrite
