// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "codegen/llvm/emit.h"
#include "codegen/precision.h"
#include "compiler/backends.h"
#include "compiler/options/code_options.h"
#include "files/text_assets.h"
#include "ir/graph.h"
#include "partition/partition.h"
#include "plugin/public/plugins.h"
#include "program/build.h"
#include "runtime/engine.h"

namespace tenon::compiler {

class Calibration;
struct MeasureOptions;

/// The options of a build: those of the option table (CodeOptions), and further ones that only the C++ interface of the compiler has.
struct CompileOptions : CodeOptions {
  bool portable = false;         ///< leave native code out of the engine file
  bool freeze_defaults = false;  ///< inputs with a default are constants: no run overrides them
  bool verify = false;           ///< check every invariant of the graph, and of the plan, after each pass
  bool plan_only = false;        ///< generate no code: sizes are known, nothing can run or be saved
  /// Called as each step begins.
  std::function<void(std::string_view step)> progress;
  std::shared_ptr<const Registry> registry;         ///< of backends and devices; null: default_registry()
  backend::Backends backends;                       ///< in order of priority (Registry::named); empty: cpu, then reference
  std::shared_ptr<const MeasureOptions> measuring;  ///< with Assign::cost: how costs are measured; null: estimates of the backends are used
  std::shared_ptr<const Calibration>
      calibration;                          ///< with Assign::cost: measured overheads that replace the backends' estimates; may be null
  codegen::TacticBook tactics;              ///< tactics that replace the default ones
  const codegen::Target* target = nullptr;  ///< of the host backend's code; null: this CPU's best
  /// Targets of kernel backends, by the name of the backend; none: the backend's default.
  std::map<std::string, const codegen::Target*, std::less<>> targets;
  /// Called with the plan after each planning pass that changed it; bodies of branches and loops have plans of their own. May be null.
  std::function<void(std::string_view pass, const codegen::Plan& plan)> dump_plan;
  files::TextAssets text;  ///< of a language model: stored in the engine unchanged
  std::string source;      ///< the model's file: Error::place of errors that no node or option caused
};

/// The time of one step of a build.
struct StepTime {
  std::string name;
  double ms = 0;  ///< milliseconds
};

/// The figures of a build.
struct CompileReport {
  size_t nodes_before = 0, nodes_after = 0;   ///< of the graph, before and after rewriting
  size_t groups = 0, kernels = 0, steps = 0;  ///< groups of the plan, different kernels, steps of the program
  uint64_t weight_bytes = 0, code_bytes = 0;  ///< in the engine
  /// For (backend, op) the number of nodes that the device of the backend runs, without a kernel.
  std::map<std::pair<std::string, std::string>, size_t> device_ops;
  std::map<std::string, double>
      guessed_shares;  ///< by backend: its estimated fraction of a run's time; empty where one backend runs all nodes
  std::vector<plugin::MeasuredNode> measured;  ///< candidates and times of nodes that plugins support, where the build measures
  std::vector<std::string> warnings;
  std::vector<StepTime> times;  ///< of the build's steps
};

/// A graph that runs in place of an entry's graph where a condition holds (a size out of range, an overridden default, a missing plugin).
/// It runs on the fallback backend.
struct FallbackGraph {
  runtime::Condition condition = runtime::Condition::none;
  std::unique_ptr<ir::Graph> graph;
};
/// The graph for that condition; null: none.
inline ir::Graph* graph_for(std::span<const FallbackGraph> fallbacks, runtime::Condition condition) {
  const auto found = std::ranges::find(fallbacks, condition, &FallbackGraph::condition);
  return found == fallbacks.end() ? nullptr : found->graph.get();
}

/// The backends among which a graph was partitioned.
struct BackendsInUse {
  backend::Backends all;
  uint16_t listed = 0;                                         ///< see partition::Constraints
  std::vector<std::shared_ptr<const backend::Backend>> owned;  ///< those of `all` that were created for this graph

  partition::Roles roles() const { return {all, listed}; }
};

/// An entry after the first: its rewritten graph, and those of its fallbacks.
struct CompiledEntry {
  std::string name;
  std::unique_ptr<ir::Graph> graph;
  std::vector<FallbackGraph> fallbacks = {};
  codegen::Plan plan = {};
};

/// A compiled graph, not yet a file.
struct Compiled {
  const ir::OpTable* ops = nullptr;          ///< of the graph
  std::shared_ptr<const Registry> registry;  ///< of CompileOptions
  BackendsInUse backends;
  std::unique_ptr<ir::Graph> graph;      ///< the rewritten graph
  std::vector<FallbackGraph> fallbacks;  ///< not compiled in a portable engine: loading compiles them
  std::vector<CompiledEntry> other_entries;
  partition::Partition partition;  ///< of `graph`
  std::vector<partition::FailedSegment> failed_segments;
  codegen::Plan plan;
  program::LinkedPrograms built;
  codegen::MachineCode code;
  CompileReport report;
};

/// A pass of the graph or of planning: its name, and one sentence on what it does.
struct PassName {
  std::string_view name, docs;
};
/// All passes, in the order in which they run; a pass that runs several times is listed once.
std::vector<PassName> pass_names();

/// The input of the compiler for one entry: its graph, and graphs of the same model for conditions under which that graph cannot run.
/// Inputs of `graph` with defaults become constants. The fallback for overridden defaults, in which they are inputs, is made from the
/// others where it is not given.
struct Source {
  std::unique_ptr<ir::Graph> graph;
  std::vector<FallbackGraph> fallbacks;

  /// unbounded: the model for sizes out of the ranges that `graph` declares; may be null.
  Source(std::unique_ptr<ir::Graph> only, std::unique_ptr<ir::Graph> unbounded = nullptr) : graph(std::move(only)) {
    if (unbounded) fallbacks.push_back({runtime::Condition::size_out_of_range, std::move(unbounded)});
  }
};

/// The name and the graphs of an entry to compile.
struct EntrySource {
  std::string name;
  Source source;
};

/// Rewrites and partitions a graph, plans, and generates code. The graphs are consumed. Where a backend fails to compile a segment, other
/// backends run its nodes. Errors: not_supported, naming node and reason; those of an invalid graph.
Result<Compiled> compile(Source source, const CompileOptions& options);
/// Compiles several entries to one engine; equal weights and kernels are shared. The first entry is the default.
/// `graph`, `partition`, `plan` and `failed_segments` of the result are the first one's. Errors: as above; bad_usage for two of one name.
Result<Compiled> compile(std::vector<EntrySource> entries, const CompileOptions& options);

/// A rewritten graph and its partition.
struct PartitionedGraph {
  std::unique_ptr<ir::Graph> graph;
  BackendsInUse backends;
  size_t nodes_before = 0;
  partition::Partition partition;
  std::unique_ptr<ir::Graph> without_casts = nullptr;  ///< where partitioning inserted Casts: the graph before that; else null
  std::vector<plugin::MeasuredNode> measured = {};     ///< nodes of plugins, where the build measures
};
/// The steps of compile() before backends compile their segments. Errors: see compile().
Result<PartitionedGraph> partition_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options);

/// An engine in memory, its weights materialised there. `devices`: in addition to those of its registry. missing: the
/// value of runtime::Engine::missing_plugins.
Result<std::shared_ptr<runtime::Engine>> load_compiled(Compiled compiled, const runtime::Devices& devices = {}, std::string missing = {});

}  // namespace tenon::compiler
