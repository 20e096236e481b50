// SPDX-License-Identifier: Apache-2.0
// What rewriting costs: the whole pipeline of passes on two made-up models in several sizes, in one thread.
//
// Model M: 25 nodes a layer, as exporters write them: LayerNorm taken apart (9), MatMul and Add, Reshape-Transpose-Transpose-Reshape,
// a Cast that casts nothing, Identity, Unsqueeze-Squeeze, erf Gelu taken apart (5), the residual Add. Dims are symbolic; weights are
// slices of one buffer. Model N: as many nodes, at none of which a rule matches.
//
// Sizes take turns, so that what else runs on the machine hits all alike; figures are medians of the CPU time, with the wall time beside
// it. A run of its own counts the bytes of the heap: what the graph holds, and what the passes hold beside it at their peak.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <vector>

#include "ir/builder.h"
#include "ops/op.h"
#include "passes/pipeline.h"

// --- the heap, counted -----------------------------------------------------------------------------------------

namespace {

struct Heap {
  bool counting = false;
  int64_t live = 0, peak = 0, calls = 0;
} heap;

int64_t bytes_at(void* p) { return static_cast<int64_t>(malloc_usable_size(p)) + 8; }  // and malloc's own word before the block

void* counted(void* p) {
  if (!p) throw std::bad_alloc();
  if (!heap.counting) return p;
  ++heap.calls;
  heap.live += bytes_at(p);
  heap.peak = std::max(heap.peak, heap.live);
  return p;
}

void release(void* p) {
  if (p && heap.counting) heap.live -= bytes_at(p);
  std::free(p);
}

}  // namespace

void* operator new(size_t size) { return counted(std::malloc(size)); }
void* operator new(size_t size, std::align_val_t align) {
  const auto a = static_cast<size_t>(align);
  return counted(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete(void* p, size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { release(p); }

namespace {

using namespace tenon;
using ir::ValueId;

// --- the models ------------------------------------------------------------------------------------------------

constexpr int64_t kHidden = 256, kHeads = 8, kLayerNodes = 25;

/// Appends layers to a graph; values and nodes are named as in a file.
class Maker {
 public:
  explicit Maker(int64_t layers) : graph_(std::make_unique<ir::Graph>(ops::table())) {
    weights_ = std::make_shared<std::vector<float>>(static_cast<size_t>(kHidden * (kHidden + layers)));
    for (size_t i = 0; i < weights_->size(); ++i)
      (*weights_)[i] = 1e-3f * static_cast<float>(i % 1009) + 1e-6f * static_cast<float>(i % 1013);
    Symbols& s = graph_->symbols();
    x_ = graph_->add_input("x", ir::Type(DType::f32, {s.symbol("batch", 1), s.symbol("seq", 1), kHidden}));
  }

  void layer_m() {
    const ValueId residual = x_;
    const ValueId centred = node("Sub", {x_, node("ReduceMean", {x_, ints({-1})})});
    const ValueId variance = node("ReduceMean", {node("Pow", {centred, number(2)}), ints({-1})});
    const ValueId normal = node("Div", {centred, node("Sqrt", {node("Add", {variance, number(1e-5)})})});
    x_ = node("Add", {node("Mul", {normal, weight({kHidden})}), weight({kHidden})});
    x_ = node("Add", {node("MatMul", {x_, weight({kHidden, kHidden})}), weight({kHidden})});
    x_ = node("Reshape", {x_, ints({0, 0, kHeads, kHidden / kHeads})});
    for (int i = 0; i < 2; ++i) x_ = node("Transpose", {x_}, {{"perm", ir::Ints{0, 2, 1, 3}}});
    x_ = node("Identity", {node("Cast", {node("Reshape", {x_, ints({0, 0, kHidden})})}, {{"to", int64_t{1}}})});
    x_ = node("Squeeze", {node("Unsqueeze", {x_, ints({1})}), ints({1})});
    const ValueId gate = node("Add", {node("Erf", {node("Div", {x_, number(1.4142135)})}), number(1)});
    x_ = node("Add", {node("Mul", {node("Mul", {x_, gate}), number(0.5)}), residual});
    ++layer_;
  }

  void layer_n() {
    for (int i = 0; i < 5; ++i) {
      const ValueId wave = node("Sin", {node("MatMul", {x_, weight({kHidden, kHidden})})});
      x_ = node("Tanh", {node("Sub", {node("Cos", {wave}), x_})});
    }
    ++layer_;
  }

  std::unique_ptr<ir::Graph> finish() {
    graph_->add_output(node("Relu", {x_}), "y");
    return std::move(graph_);
  }

 private:
  ValueId node(std::string_view op, std::vector<ValueId> inputs, std::vector<std::pair<std::string, ir::Attribute>> attributes = {}) {
    ir::Builder build(*graph_);
    const ValueId out = build(op, std::move(inputs), std::move(attributes));
    TENON_ASSERT(build.status());
    const std::string name = fmt::format("/model/layer.{}/{}_{}", layer_, op, graph_->node_count());
    graph_->set_name(graph_->value(out).producer, name);
    graph_->set_name(out, name + "_output_0");
    return out;
  }
  ValueId constant(Tensor tensor) {
    return graph_->add_constant(ir::constant_of(std::move(tensor)), fmt::format("/model/layer.{}/constant_{}", layer_, constants_++));
  }
  ValueId ints(ir::Ints values) { return constant(Tensor::of_i64({static_cast<int64_t>(values.size())}, values)); }
  ValueId number(double value) { return constant(Tensor::scalar(DType::f32, value)); }
  /// Weights of different layers differ.
  ValueId weight(Sizes shape) {
    return constant(Tensor::view(DType::f32, std::move(shape), weights_->data() + layer_ * kHidden, weights_));
  }

  std::unique_ptr<ir::Graph> graph_;
  std::shared_ptr<std::vector<float>> weights_;
  ValueId x_;
  int64_t layer_ = 0, constants_ = 0;
};

std::unique_ptr<ir::Graph> make(char model, int64_t nodes) {
  const int64_t layers = std::max<int64_t>(1, (nodes - 1) / kLayerNodes);
  Maker maker(layers);
  for (int64_t k = 0; k < layers; ++k) model == 'M' ? maker.layer_m() : maker.layer_n();
  return maker.finish();
}

// --- measuring -------------------------------------------------------------------------------------------------

double ms_of(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

struct Work {
  char model;
  int64_t nodes = 0, nodes_after = 0, rewrites = 0;
  std::vector<double> cpu_ms, wall_ms;
  int64_t graph_bytes = 0, beside_bytes = 0, allocations = 0;
  passes::Report report;
};

passes::Report optimise(ir::Graph& graph, bool timing) {
  passes::Options options;
  options.level = 3;
  options.rewriting.timing = timing;
  auto report = passes::optimise(graph, options);
  if (report) return std::move(*report);
  fmt::print(stderr, "{}\n", report.error().text());
  std::exit(1);
}

void measure(Work& work, bool timing) {
  const auto graph = make(work.model, work.nodes);
  work.nodes = static_cast<int64_t>(graph->node_count());
  const double cpu = ms_of(CLOCK_PROCESS_CPUTIME_ID), wall = ms_of(CLOCK_MONOTONIC);
  work.report = optimise(*graph, timing);
  work.cpu_ms.push_back(ms_of(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  work.wall_ms.push_back(ms_of(CLOCK_MONOTONIC) - wall);
  work.nodes_after = static_cast<int64_t>(graph->node_count());
  work.rewrites = 0;
  for (const auto& rule : work.report.rules.rules) work.rewrites += rule.applied;
}

void count_heap(Work& work) {
  heap = {.counting = true};
  const auto graph = make(work.model, work.nodes);
  work.graph_bytes = heap.peak = heap.live;
  heap.calls = 0;
  optimise(*graph, false);
  heap.counting = false;
  work.beside_bytes = heap.peak - work.graph_bytes;
  work.allocations = heap.calls;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double us_a_node(const Work& work) { return 1e3 * median(work.cpu_ms) / static_cast<double>(work.nodes); }

void print(const std::vector<Work>& all) {
  fmt::print("{:>5} {:>8} {:>8} {:>9} {:>9} {:>9} {:>8} {:>7} {:>11} {:>12} {:>11}\n", "model", "nodes", "after", "rewrites", "CPU ms",
             "wall ms", "us/node", "ratio", "graph B/nd", "beside B/nd", "allocs/nd");
  const Work* first = nullptr;
  for (const Work& w : all) {
    if (!first || first->model != w.model) first = &w;
    const auto each = [&](int64_t count) { return static_cast<double>(count) / static_cast<double>(w.nodes); };
    fmt::print("{:>5} {:>8} {:>8} {:>9} {:>9.1f} {:>9.1f} {:>8.3f} {:>7.2f} {:>11.0f} {:>12.0f} {:>11.1f}\n", w.model, w.nodes,
               w.nodes_after, w.rewrites, median(w.cpu_ms), median(w.wall_ms), us_a_node(w), us_a_node(w) / us_a_node(*first),
               each(w.graph_bytes), each(w.beside_bytes), each(w.allocations));
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
                   {"us_per_node", us_a_node(w)},
                   {"all_ms", w.cpu_ms},
                   {"graph_bytes", w.graph_bytes},
                   {"beside_bytes", w.beside_bytes},
                   {"allocations", w.allocations}});
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int64_t> sizes{10'001, 16'001, 100'001};
  std::string models = "MN";
  int runs = 9;
  bool json = false, table = false, once = false;
  CLI::App app("Measures the pipeline of rewriting passes.");
  app.add_option("--nodes", sizes, "sizes; the ratios are to the first");
  app.add_option("--model", models, "M, N or both")->check(CLI::IsMember({"M", "N", "MN"}));
  app.add_option("--runs", runs, "runs of each size")->check(CLI::Range(1, 1000));
  app.add_flag("--json", json, "one array on stdout and nothing else");
  app.add_flag("--table", table, "also the passes and rules of the last run, each rule timed");
  app.add_flag("--once", once, "one run of each and no figures, for a profiler");
  CLI11_PARSE(app, argc, argv);
  std::vector<Work> all;
  for (char model : models)
    for (int64_t nodes : sizes) all.push_back({.model = model, .nodes = nodes});
  for (int k = 0; k < (once ? 1 : runs); ++k)
    for (Work& work : all) measure(work, table);
  if (once) return 0;
  for (Work& work : all) count_heap(work);
  if (json) {
    fmt::print("{}\n", json_of(all).dump(1));
    return 0;
  }
  print(all);
  for (const Work& work : all)
    if (table) fmt::print("\nmodel {}, {} nodes\n{}", work.model, work.nodes, passes::text_of(work.report));
  return 0;
}
