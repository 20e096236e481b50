// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/engine_plugins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/console/console.h"
#include "cli/inspect/measured_text.h"
#include "compiler/measured_data.h"
#include "plugin/public/plugins.h"

namespace tenon::cli {

namespace {

/// "2 (blocked), channels-last"; "-" where nothing was chosen.
std::string tactic_text(const plugin::Saved& s) {
  if (s.tactic == 0 && s.layouts.empty()) return "-";
  const std::string name = s.tactic_name.empty() ? "" : fmt::format(" ({})", s.tactic_name);
  return fmt::format("{}{}, {}", s.tactic, name, plugin::text_of_layouts(s.layouts, s.operands.size()));
}

std::vector<std::string> layouts_of(const plugin::Saved& s) {
  std::vector<std::string> out;
  for (int32_t layout : s.layouts) out.emplace_back(plugin::name_of_layout(layout));
  if (out.empty()) out.assign(s.operands.size() + s.results.size(), plugin::name_of_layout(TENON_ROW_MAJOR));
  return out;
}

}  // namespace

Result<void> show_measured(const engine::Reader& reader, Console& console, nlohmann::ordered_json& out) {
  const auto section = reader.find(engine::SectionType::plugin_times);
  if (!section) return {};
  const auto nodes = TRY(plugin::decode_measured({reinterpret_cast<const char*>(section->data()), section->size()}));
  show_measured(nodes, console);
  out["plugin_times"] = compiler::measured_data(nodes);
  return {};
}

Result<void> show_plugins(const engine::Reader& reader, Console& console, nlohmann::ordered_json& out) {
  TRY(show_measured(reader, console, out));
  const auto section = reader.find(engine::SectionType::plugins);
  if (!section) return {};
  std::vector<std::vector<std::string>> rows{{"plugin", "version", "library", "SHA-256", "node", "tactic", "fields", "inner graphs"}};
  out["plugins"] = nlohmann::ordered_json::array();
  for (const plugin::Saved& s : TRY(plugin::decode_all({reinterpret_cast<const char*>(section->data()), section->size()}))) {
    std::vector<std::string> fields;
    for (const plugin::Field& f : s.fields) fields.push_back(f.text());
    rows.push_back({s.name_space + "::" + s.name, s.version, s.library, s.sha256.substr(0, 16), s.node, tactic_text(s),
                    fmt::format("{}", fmt::join(fields, ", ")), s.graphs > 0 ? std::to_string(s.graphs) : ""});
    out["plugins"].push_back({{"name_space", s.name_space},
                              {"name", s.name},
                              {"version", s.version},
                              {"library", s.library},
                              {"sha256", s.sha256},
                              {"interface", s.interface},
                              {"node", s.node},
                              {"tactic", s.tactic},
                              {"tactic_name", s.tactic_name},
                              {"layouts", layouts_of(s)},
                              {"fields", fields},
                              {"graphs", s.graphs}});
  }
  console.line();
  console.table(rows);
  return {};
}

}  // namespace tenon::cli
