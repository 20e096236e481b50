// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>

#include "cli/console/console.h"
#include "cli/console/option_groups.h"
#include "cli/console/verb.h"
#include "cli/inspect/measured_text.h"
#include "cli/options/engine_options.h"
#include "cli/partition/partition_page.h"
#include "compiler/partition_data.h"
#include "files/atomic_write.h"
#include "partition/names.h"
#include "partition/what_if.h"

namespace tenon::cli::verb_partition {
namespace {

struct Options {
  EngineOptions engine;
  bool dry_run = false;
  bool nodes = false;
  std::string html;
};

void show_segments(const ir::Graph& graph, const partition::Partition& partition, Console& console) {
  std::vector<std::vector<std::string>> rows{{"segment", "backend", "nodes", "first", "last", "reads", "gives"}};
  const partition::Names names(graph, partition);
  for (size_t s = 0; s < partition.segments.size(); ++s) {
    const ir::Segment& segment = partition.segments[s];
    rows.push_back({std::to_string(s), segment.backend, std::to_string(segment.nodes.size()),
                    std::string(names.node(segment.nodes.front())), std::string(names.node(segment.nodes.back())),
                    std::to_string(segment.operands.size()), std::to_string(segment.results.size())});
  }
  console.table(rows);
}

/// A line for each op and list of reasons, not one a node.
void show_reasons(const ir::Graph& graph, const partition::Partition& partition, const partition::Roles& roles, bool each,
                  Console& console) {
  std::map<std::vector<std::string>, size_t> counts;
  for (const partition::NodePlacement& n : partition.nodes) {
    std::string reasons;
    for (const partition::Reason& r : n.reasons) reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", r.code, r.text);
    ++counts[{std::string(roles.backends[n.backend]->name()), each ? n.name : partition::op_name(*graph.node(n.node).op), reasons}];
  }
  std::vector<std::vector<std::string>> rows{{"backend", each ? "node" : "op", "nodes", "why"}};
  for (const auto& [row, count] : counts) rows.push_back({row[0], row[1], std::to_string(count), row[2]});
  console.table(rows);
}

/// Prints the overheads of each backend (launch, copy), and whether they are estimated, calibrated or measured.
void show_costs(const backend::Backends& backends, Console& console) {
  for (const backend::Backend* b : backends)
    console.line(fmt::format("a start of {} costs {}", b->name(), compiler::costs_text(b->overheads())));
}

/// The number of segments and its lower bound.
std::string count_text(const partition::Partition& partition) {
  const size_t count = partition.segments.size(), least = partition.lower_bound;
  if (count == least) return fmt::format("{} segments, proved fewest", count);
  std::string out = fmt::format("{} segments, at most {} more than the fewest ({:.1f} %): at least {} are needed", count, count - least,
                                100 * static_cast<double>(count - least) / static_cast<double>(least), least);
  if (partition.stopped_after_visits > 0)
    out += fmt::format("; the search for fewer was given up after {} million visits of nodes and edges",
                       partition.stopped_after_visits / 1'000'000);
  return out;
}

void show_figures(const partition::Partition& partition, const partition::Roles& roles, Console& console) {
  console.line(fmt::format("{}; {} borders; {:.1f} % of the work's nodes accelerated", count_text(partition), partition.borders.size(),
                           100 * partition.accelerated_share(roles)));
}

void show_what_if(const std::vector<partition::WhatIf>& all, Console& console) {
  std::vector<std::vector<std::string>> rows{{"were it accelerated", "borders removed", "segments left"}};
  for (const partition::WhatIf& w : all) {
    if (rows.size() > 5 || (w.borders_removed <= 0 && w.blocked_by.empty())) continue;
    const std::string note = w.blocked_by.empty() ? "" : fmt::format(" (grouped with {})", fmt::join(w.blocked_by, ", "));
    rows.push_back({w.op + note, std::to_string(w.borders_removed), std::to_string(w.segments)});
  }
  if (rows.size() > 1) console.table(rows);
}

Result<void> report(const ir::Graph& graph, const partition::Partition& partition, const partition::Roles& roles, const Options& o,
                    const partition::Constraints& constraints, std::span<const plugin::MeasuredNode> measured,
                    const compiler::Compiled* built, Console& console) {
  const auto what_if = TRY(partition::what_if(graph, partition, roles, constraints));
  const auto shapes = TRY(o.engine.model.import_options()).shapes;
  show_segments(graph, partition, console);
  console.line();
  show_reasons(graph, partition, roles, o.nodes, console);
  console.line();
  show_what_if(what_if, console);
  show_figures(partition, roles, console);
  show_measured(measured, console);
  const auto json = compiler::partition_data(graph, partition, roles, constraints.assign, what_if, measured, built, shapes);
  if (constraints.assign == partition::Assign::cost) show_costs(roles.backends, console);
  if (partition.predicted)
    console.line(fmt::format("predicted to take {:.1f} us a run; no assignment takes less than {:.1f} us", partition.predicted->ns / 1000,
                             partition.predicted->lower_bound_ns / 1000));
  console.object(json);
  if (o.html.empty()) return {};
  const std::string title = std::filesystem::path(o.engine.model.path).filename().string();
  return files::write_file(o.html, partition_page(title, json, roles));
}

Result<void> partition_model(const Options& o, Console& console) {
  if (o.engine.is_engine())
    return fail(Code::bad_usage, o.engine.model.path, "in an engine it is settled who runs what")
        .expected("an ONNX model")
        .found("an engine")
        .advice("`tenon inspect ENGINE` prints its steps");
  auto imported = TRY(o.engine.model.import());
  for (const std::string& w : imported.warnings) console.warn(w);
  const auto options = TRY(o.engine.compile_options(console));
  if (o.dry_run) {
    const compiler::PartitionedGraph partitioned = TRY(compiler::partition_graph(std::move(imported.graph), options));
    return report(*partitioned.graph, partitioned.partition, partitioned.backends.roles(), o, options.constraints, partitioned.measured,
                  nullptr, console);
  }
  const compiler::Compiled built = TRY(compiled(std::move(imported.graph), options, console));
  return report(*built.graph, built.partition, built.backends.roles(), o, options.constraints, built.report.measured, &built, console);
}

}  // namespace

VERB(partition) {
    .summary = "print which backend runs which nodes of a model, and why",
    .examples =
        "  tenon partition model.onnx --backend onnxruntime,cpu --dry-run\n"
        "  tenon partition model.onnx --backend cpu,reference --fallback-ops Softmax --json\n"
        "  tenon partition model.onnx --backend onnxruntime,cpu --pin encoder.layer.0=cpu --nodes\n"
        "  tenon partition model.onnx --backend onnxruntime,cpu --html partition.html\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->engine.add_to(app, EngineOptions::Takes::models);
      o->engine.model.metadata = true;  // modules are reported
      app.add_flag("--dry-run", o->dry_run, "do not compile the segments");
      app.add_flag("--nodes", o->nodes, "print one line for each node");
      app.add_option("--html", o->html, "write the partition as an interactive HTML page")->type_name("OUT");
      for (CLI::Option* option : app.get_options())
        if (option->get_group() == kBackendOptions) option->group("Who runs what");  // what this verb is about
      return [o](Console& console) -> Result<void> { return partition_model(*o, console); };
    },
    .isolates = true,
};

}  // namespace tenon::cli::verb_partition
