// SPDX-License-Identifier: Apache-2.0
// What rewriting costs: the whole pipeline of passes on two made-up models in several sizes (layers.h), in one thread, and what it
// costs to have more rules.
//
// Sizes alternate, so that other load on the machine affects all alike; figures are medians of the CPU time, with the wall time next to
// it. A run of its own counts the bytes of the heap: those of the graph, and those that the passes allocate in addition at their peak.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "heap.h"
#include "import/onnx_export.h"
#include "layers.h"
#include "passes/pipeline.h"
#include "rule_scaling.h"

namespace {

using namespace tenon;
using bench::make_model;

double ms_of(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

struct Work {
  char model;
  int64_t nodes = 0, nodes_after = 0, rewrites = 0;
  std::vector<double> cpu_ms, wall_ms;
  std::vector<double> rewrite_ms;  ///< matching and rewriting alone
  int64_t graph_bytes = 0, extra_bytes = 0, allocations = 0;
  passes::Report report;
};

passes::Report optimise(ir::Graph& graph, const std::string& rules, bool timing) {
  passes::Options options;
  options.level = 3;
  options.rule_selection = rules;
  options.rewriting.timing = timing;
  auto report = passes::optimise(graph, options);
  if (report) return std::move(*report);
  fmt::print(stderr, "{}\n", report.error().text());
  std::exit(1);
}

void measure(Work& work, const std::string& rules, bool timing) {
  const auto graph = make_model(work.model, work.nodes);
  work.nodes = static_cast<int64_t>(graph->node_count());
  const double cpu = ms_of(CLOCK_PROCESS_CPUTIME_ID), wall = ms_of(CLOCK_MONOTONIC);
  work.report = optimise(*graph, rules, timing);
  work.cpu_ms.push_back(ms_of(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  work.wall_ms.push_back(ms_of(CLOCK_MONOTONIC) - wall);
  work.rewrite_ms.push_back(work.report.rules.ms);
  work.nodes_after = static_cast<int64_t>(graph->node_count());
  work.rewrites = 0;
  for (const auto& rule : work.report.rules.rules) work.rewrites += rule.applied;
}

void count_heap(Work& work, const std::string& rules) {
  bench::Heap& heap = bench::heap();
  heap = {.counting = true};
  const auto graph = make_model(work.model, work.nodes);
  work.graph_bytes = heap.peak = heap.live;
  heap.calls = 0;
  optimise(*graph, rules, false);
  heap.counting = false;
  work.extra_bytes = heap.peak - work.graph_bytes;
  work.allocations = heap.calls;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double us_a_node(const Work& work) { return 1e3 * median(work.cpu_ms) / static_cast<double>(work.nodes); }

void print(const std::vector<Work>& all) {
  fmt::print("{:>5} {:>8} {:>8} {:>9} {:>9} {:>9} {:>10} {:>8} {:>7} {:>11} {:>12} {:>11}\n", "model", "nodes", "after", "rewrites",
             "CPU ms", "wall ms", "rewrite ms", "us/node", "ratio", "graph B/nd", "passes B/nd", "allocs/nd");
  const Work* first = nullptr;
  for (const Work& w : all) {
    if (!first || first->model != w.model) first = &w;
    const auto each = [&](int64_t count) { return static_cast<double>(count) / static_cast<double>(w.nodes); };
    fmt::print("{:>5} {:>8} {:>8} {:>9} {:>9.1f} {:>9.1f} {:>10.1f} {:>8.3f} {:>7.2f} {:>11.0f} {:>12.0f} {:>11.1f}\n", w.model, w.nodes,
               w.nodes_after, w.rewrites, median(w.cpu_ms), median(w.wall_ms), median(w.rewrite_ms), us_a_node(w),
               us_a_node(w) / us_a_node(*first), each(w.graph_bytes), each(w.extra_bytes), each(w.allocations));
  }
}

nlohmann::json json_of(const std::vector<Work>& all) {
  nlohmann::json out = nlohmann::json::array();
  for (const Work& w : all)
    out.push_back({{"model", std::string(1, w.model)},
                   {"nodes", w.nodes},
                   {"nodes_after", w.nodes_after},
                   {"rewrites", w.rewrites},
                   {"median_ms", median(w.cpu_ms)},
                   {"wall_ms", median(w.wall_ms)},
                   {"rewrite_ms", median(w.rewrite_ms)},
                   {"us_per_node", us_a_node(w)},
                   {"all_ms", w.cpu_ms},
                   {"graph_bytes", w.graph_bytes},
                   {"beside_bytes", w.extra_bytes},
                   {"allocations", w.allocations}});
  return out;
}

int write_model(char model, int64_t nodes, const std::string& file) {
  const auto written = import::export_onnx(*make_model(model, nodes), file);
  if (!written) fmt::print(stderr, "{}\n", written.error().text());
  return written ? 0 : 1;
}

int print_scaling(int runs, bool json) {
  const auto rows = bench::measure_rule_scaling({100, 1000}, runs);
  nlohmann::json out = nlohmann::json::array();
  for (const bench::Scaling& row : rows) {
    const double ratio = median(row.ms) / median(rows[0].ms);
    out.push_back({{"rules", row.rules}, {"nodes", row.nodes}, {"tried", row.tried}, {"median_ms", median(row.ms)}, {"ratio", ratio}});
    if (!json)
      fmt::print("{:5} rules {:7} nodes {:9} tries {:8.2f} ms {:6.2f} times the first\n", row.rules, row.nodes, row.tried, median(row.ms),
                 ratio);
  }
  if (json) fmt::print("{}\n", out.dump(1));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int64_t> sizes{10'001, 16'001, 100'001};
  std::string models = "MN";
  int runs = 9;
  std::string rules = "tenon", write;
  bool json = false, table = false, once = false, scaling = false;
  CLI::App app("Measures the pipeline of rewriting passes.");
  app.add_option("--nodes", sizes, "sizes; the ratios are to the first");
  app.add_option("--model", models, "M, N or both")->check(CLI::IsMember({"M", "N", "MN"}));
  app.add_option("--runs", runs, "runs of each size")->check(CLI::Range(1, 1000));
  app.add_option("--rules", rules, "which rules run, as `tenon rewrite --rules` takes them");
  app.add_option("--write", write, "write the first model in the first size to this file, and measure nothing")->type_name("OUT.onnx");
  app.add_flag("--scaling", scaling, "only: 100 rules against 1,000 that nearly match");
  app.add_flag("--json", json, "one array on stdout and nothing else");
  app.add_flag("--table", table, "also the passes and rules of the last run, each rule timed");
  app.add_flag("--once", once, "one run of each and no figures, for a profiler");
  CLI11_PARSE(app, argc, argv);
  if (!write.empty()) return write_model(models[0], sizes[0], write);
  if (scaling) return print_scaling(runs, json);
  std::vector<Work> all;
  for (char model : models)
    for (int64_t nodes : sizes) all.push_back({.model = model, .nodes = nodes});
  for (int k = 0; k < (once ? 1 : runs); ++k)
    for (Work& work : all) measure(work, rules, table);
  if (once) return 0;
  for (Work& work : all) count_heap(work, rules);
  if (json) {
    fmt::print("{}\n", json_of(all).dump(1));
    return 0;
  }
  print(all);
  for (const Work& work : all)
    if (table) fmt::print("\nmodel {}, {} nodes\n{}", work.model, work.nodes, passes::text_of(work.report));
  return 0;
}
