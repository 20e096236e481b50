// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/segment_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/console.h"
#include "partition/names.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> node_names(const partition::Names& names, const ir::Segment& segment) {
  std::vector<std::string> out;
  for (const ir::NodeId n : segment.nodes) out.emplace_back(names.node(n));
  return out;
}

std::string verdict_text(const SegmentCheck& check) {
  if (check.error) return "bad: " + (*check.error)->what;
  if (!check.furthest) return "good";
  const ValueDistance& d = *check.furthest;
  const std::string rounding = d.distance.bound_ratio > 1 ? fmt::format(", rounding alone makes {:.3g}", d.rounding) : "";
  return (check.bad() ? "bad: " + d.distance.found : "good") + rounding;
}

Json json_of(const partition::Names& names, const partition::Partition& partition, const SegmentCheck& check) {
  const ir::Segment& segment = partition.segments[check.segment];
  Json out = {{"id", check.segment},
              {"backend", segment.backend},
              {"nodes", node_names(names, segment)},
              {"verdict", check.bad() ? "bad" : "good"}};
  out["error"] = check.error ? Json(check.error->text()) : Json();
  if (!check.furthest) return out;
  const ValueDistance& d = *check.furthest;
  out["value"] = names.value(d.value);
  out["largest_error"] = d.distance.largest;
  out["bound"] = d.distance.bound;
  out["of_bound"] = d.distance.bound_ratio;
  out["rounding_error"] = d.distance.bound_ratio > 1 ? Json(d.rounding) : Json();
  out["found"] = d.distance.found;
  return out;
}

/// "a, b, and 17 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  std::string out;
  for (size_t k = 0; k < std::min(names.size(), kShown); ++k) out += (out.empty() ? "" : ", ") + names[k];
  return names.size() > kShown ? out + fmt::format(", and {} more", names.size() - kShown) : out;
}

}  // namespace

Json report_segments(const ir::Graph& graph, const partition::Partition& partition, std::span<const SegmentCheck> checks,
                     Console& console) {
  std::vector<std::vector<std::string>> rows{{"segment", "backend", "nodes", "furthest value", "largest error", "of its bound", "verdict"}};
  const partition::Names names(graph, partition);
  Json out = Json::array();
  for (const SegmentCheck& c : checks) {
    const ir::Segment& segment = partition.segments[c.segment];
    rows.push_back({std::to_string(c.segment), segment.backend, std::to_string(segment.nodes.size()), "-", "-", "-", verdict_text(c)});
    if (c.furthest) {
      rows.back()[3] = names.value(c.furthest->value);
      rows.back()[4] = fmt::format("{:.3g}", c.furthest->distance.largest);
      rows.back()[5] = fmt::format("{:.3g}", c.furthest->distance.bound_ratio);
    }
    out.push_back(json_of(names, partition, c));
  }
  console.line("each segment by itself, on what the reference gives it:");
  console.table(rows);
  console.line();
  return out;
}

Result<void> verdict_of_segments(const ir::Graph& graph, const partition::Partition& partition, std::span<const SegmentCheck> checks) {
  const auto first = std::ranges::find_if(checks, [](const SegmentCheck& c) { return c.bad(); });
  if (first == checks.end()) return {};
  const partition::Names names(graph, partition);
  const ir::Segment& segment = partition.segments[first->segment];
  const std::string place = fmt::format("segment {} on '{}'", first->segment, segment.backend);
  const std::string advice =
      fmt::format("--pin NODE=BACKEND runs a node elsewhere; the segment's nodes: {}", some_of(node_names(names, segment)));
  if (first->error) {
    const Diagnostic& why = **first->error;
    return fail(Code::device_failed, place, "the first segment that is wrong: " + why.what)
        .expected(why.expected)
        .found(why.found)
        .advice(advice);
  }
  const ValueDistance& d = *first->furthest;
  return fail(Code::device_failed, place,
              fmt::format("the first segment that is wrong: its result '{}' is further from the fp64 reference than rounding explains",
                          names.value(d.value)))
      .expected(fmt::format("an error of {:.3g} at most where the reference is 0; rounding every node's result makes {:.3g}",
                            d.distance.bound, d.rounding))
      .found(fmt::format("an error of {:.3g}: {}", d.distance.largest, d.distance.found))
      .advice(advice);
}

}  // namespace tenon::cli
