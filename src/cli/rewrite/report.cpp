// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>

#include "cli/console/console.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

/// The driver books folding under this name; it is no rule.
constexpr std::string_view kFolding = "fold_constants";

/// Columns of numbers end at one place: all but the first and, where `text_last`, the last are padded on the left.
void align(std::vector<Row>& rows, bool text_last) {
  for (size_t column = 1; column + (text_last ? 1 : 0) < rows[0].size(); ++column) {
    size_t width = 0;
    for (const Row& row : rows) width = std::max(width, row[column].size());
    for (Row& row : rows) row[column].insert(0, width - row[column].size(), ' ');
  }
}

/// The rule's line, then one line a further reason.
void add_rows(const rewrite::RuleStatistics& rule, std::vector<Row>& rows) {
  rows.push_back({rule.name, std::to_string(rule.matches), std::to_string(rule.applied), std::to_string(rule.added),
                  std::to_string(rule.removed), fmt::format("{:.2f}", rule.ms), ""});
  bool first = true;
  for (const auto& [reason, count] : rule.refused) {
    if (!first) rows.push_back(Row(rows[0].size()));
    rows.back().back() = fmt::format("{} x {}", count, reason);
    first = false;
  }
  if (!rule.left_out) return;
  if (!first) rows.push_back(Row(rows[0].size()));
  rows.back().back() = "left out";
}

}  // namespace

int64_t count_nodes(const ir::Graph& graph) {
  int64_t nodes = 0;
  for (ir::NodeId id : graph.nodes()) {
    ++nodes;
    for (const ir::Body& body : graph.node(id).bodies) nodes += count_nodes(*body.graph);
  }
  return nodes;
}

int64_t folded_nodes(const rewrite::Statistics& statistics) {
  const auto found = std::ranges::find(statistics.rules, kFolding, &rewrite::RuleStatistics::name);
  return found == statistics.rules.end() ? 0 : found->matches;
}

void print_statistics(const passes::Report& report, Console& console) {
  std::vector<Row> rows{{"rule", "matches", "applied", "added", "removed", "ms", "refused"}};
  std::vector<const rewrite::RuleStatistics*> rules;
  for (const auto& rule : report.rules.rules)
    if (rule.name != kFolding && (rule.matches > 0 || rule.left_out || !rule.refused.empty())) rules.push_back(&rule);
  std::ranges::sort(rules, {}, [](const auto* r) { return std::tuple(-r->applied, -r->matches, std::string_view(r->name)); });
  for (const auto* rule : rules) add_rows(*rule, rows);
  align(rows, true);
  console.line();
  console.table(rows);
  rows = {{"pass", "before", "after", "ms"}};
  for (const passes::PassReport& p : report.passes)
    rows.push_back({std::string(p.name), std::to_string(p.nodes_before), std::to_string(p.nodes_after), fmt::format("{:.2f}", p.ms)});
  align(rows, false);
  console.line();
  console.table(rows);
}

static Json json_of(const rewrite::RuleStatistics& rule) {
  Json refused = Json::object();
  for (const auto& [reason, count] : rule.refused) refused[reason] = count;
  return {{"name", rule.name},   {"set", rule.sets},         {"matches", rule.matches}, {"applied", rule.applied},
          {"added", rule.added}, {"removed", rule.removed},  {"refused", refused},      {"ms", rule.ms},
          {"tried", rule.tried}, {"left_out", rule.left_out}};
}

Json rules_json(const rewrite::Statistics& statistics) {
  Json out = Json::array();
  for (const auto& rule : statistics.rules) {
    if (rule.name == kFolding) continue;
    out.push_back(json_of(rule));
  }
  return out;
}

Json passes_json(const passes::Report& report) {
  Json out = Json::array();
  for (const passes::PassReport& p : report.passes)
    out.push_back(
        {{"name", p.name}, {"nodes_before", p.nodes_before}, {"nodes_after", p.nodes_after}, {"ms", p.ms}, {"changed", p.changed}});
  return out;
}

}  // namespace tenon::cli
