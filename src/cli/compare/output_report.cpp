// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/output_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/console.h"

namespace tenon::cli {

using Json = nlohmann::ordered_json;

namespace {

std::string verdict_text(const OutputDistance& d) {
  const std::string rounding = d.ours.bound_ratio > 1 ? fmt::format(", rounding alone makes {:.3g}", d.rounding()) : "";
  return d.good() ? "good" + rounding : "bad: " + d.ours.found + rounding;
}

Json json_of(const OutputDistance& d, bool has_steps) {
  Json out{{"name", d.name},
           {"type", d.type},
           {"largest_error", d.ours.largest},
           {"of_bound", d.ours.bound_ratio},
           {"bound", d.ours.bound},
           {"elements_beyond", d.ours.exceeding},
           {"rounding_error", d.ours.bound_ratio > 1 ? Json(d.rounding()) : Json(nullptr)},
           {"small_half_error", d.small_half ? Json(*d.small_half) : Json(nullptr)},
           {"other_error", d.other ? Json(d.other->largest) : Json(nullptr)},
           {"verdict", d.good() ? "good" : "bad"}};
  if (has_steps && !d.is_state) out["step"] = d.step + 1;
  if (d.is_state) out["state"] = true;
  return out;
}

/// A column of the table.
struct Column {
  std::string title;
  std::string (*text)(const OutputDistance&);
};

std::vector<Column> columns_of(const std::vector<OutputDistance>& outputs, const OutputReport& options) {
  std::vector<Column> out;
  if (options.has_steps) out.push_back({"step", [](const OutputDistance& d) { return d.is_state ? "" : std::to_string(d.step + 1); }});
  out.push_back({"output", [](const OutputDistance& d) { return (d.is_state ? "state " : "") + d.name; }});
  out.push_back({"type", [](const OutputDistance& d) { return d.type; }});
  out.push_back({"largest error", [](const OutputDistance& d) { return fmt::format("{:.3g}", d.ours.largest); }});
  if (std::ranges::any_of(outputs, [](const OutputDistance& d) { return d.small_half.has_value(); }))
    out.push_back(
        {"of the smaller half", [](const OutputDistance& d) { return d.small_half ? fmt::format("{:.3g}", *d.small_half) : "-"; }});
  out.push_back({"of its bound", [](const OutputDistance& d) { return fmt::format("{:.3g}", d.ours.bound_ratio); }});
  if (options.with != "reference")
    out.push_back(
        {"error of " + options.with, [](const OutputDistance& d) { return d.other ? fmt::format("{:.3g}", d.other->largest) : "-"; }});
  out.push_back({"verdict", verdict_text});
  return out;
}

}  // namespace

Json report_outputs(const std::vector<OutputDistance>& outputs, const OutputReport& options, Console& console) {
  const std::vector<Column> columns = columns_of(outputs, options);
  std::vector<std::vector<std::string>> rows(1);
  for (const Column& c : columns) rows[0].push_back(c.title);
  Json json = Json::array();
  for (const OutputDistance& d : outputs) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const Column& c : columns) row.push_back(c.text(d));
    json.push_back(json_of(d, options.has_steps));
  }
  console.table(rows);
  return json;
}

std::string place_of(const OutputDistance& output, bool has_steps) {
  if (output.is_state) return "state '" + output.name + "'";
  return fmt::format("output '{}'", output.name) + (has_steps ? fmt::format(" of step {}", output.step + 1) : "");
}

}  // namespace tenon::cli
