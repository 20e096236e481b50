// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/measured_text.h"

#include <fmt/format.h>

#include "cli/console/console.h"

namespace tenon::cli {

namespace {

using Rows = std::vector<std::vector<std::string>>;

void add_rows(const plugin::MeasuredNode& n, Rows& rows) {
  const std::string nodes = n.nodes > 1 ? fmt::format("{} and {} more", n.node, n.nodes - 1) : n.node;
  if (!n.note.empty()) rows.push_back({n.plugin, nodes, n.note, "", ""});
  for (size_t k = 0; k < n.candidates.size(); ++k) {
    const plugin::MeasuredNode::Candidate& c = n.candidates[k];
    const std::string note = k == n.chosen ? "chosen" : c.dropped.empty() ? "" : "dropped: " + c.dropped;
    const bool first = k == 0 && n.note.empty();
    rows.push_back({first ? n.plugin : "", first ? nodes : "", c.name, plugin::time_text(c.ns), note});
  }
}

}  // namespace

void show_measured(std::span<const plugin::MeasuredNode> nodes, Console& console) {
  if (nodes.empty()) return;
  Rows rows{{"plugin", "node", "way", "a run", ""}};
  for (const plugin::MeasuredNode& n : nodes) add_rows(n, rows);
  console.line();
  console.table(rows);
}

}  // namespace tenon::cli
