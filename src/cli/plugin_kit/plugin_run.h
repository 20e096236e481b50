// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/plugin_kit/guarded.h"
#include "cli/plugin_kit/in_layout.h"
#include "cli/plugin_kit/plugin_case.h"
#include "ops/plugin/evaluated_graphs.h"
#include "plugin/public/plugins.h"

namespace tenon::cli {

/// How a plugin object is run.
struct PluginRunOptions {
  uint8_t fill = 0x5a;  ///< initial bytes of results and workspace
  int32_t tactic = 0;
  bool pieces = false;    ///< parallel_for calls its body for small pieces, the last one first
  bool in_place = false;  ///< results share the memory of operands where the op allows it
  bool refuse_parallel_for = false;
  bool refuse_set_sizes = false;
  bool refuse_run_graph = false;
  bool stopped = false;
  std::function<void()> meanwhile;  ///< called once, inside the first call of parallel_for
};

/// The results of a run whose `enqueue` returned TENON_OK.
struct RunResults {
  std::vector<Tensor> tensors;
  std::vector<std::string> faults;  ///< violations: memory written outside, sizes that differ from the inferred ones
  bool refused = false;             ///< a call of the host was refused as requested
};

/// An object in one context: shapes once, then runs, each on memory of its own between guards. Memory of the run before is overwritten.
class PluginRun final : private plugin::CallServices {
 public:
  /// layouts: of operands and results; empty: those that the object prefers, as in a build.
  PluginRun(const plugin::Object& object, const PluginCase& at, plugin::Layouts layouts = {});
  PluginRun(const PluginRun&) = delete;

  /// Sets the shapes. workspace_of: shapes to call `workspace` for, of another case, whose workspace runs then get.
  /// Errors: those of the op.
  Result<void> set_shapes(const PluginCase* workspace_of = nullptr);
  /// Bytes of workspace that runs get.
  uint64_t workspace() const { return workspace_; }
  /// Runs the object. operands: null: those of the case. Errors: those of `enqueue`.
  Result<RunResults> run(const PluginRunOptions& options = {}, const std::vector<Tensor>* operands = nullptr);

 private:
  struct Memory {
    std::vector<GuardedBuffer> operands, results;
    std::unique_ptr<GuardedBuffer> workspace;
  };
  int32_t parallel_for(int64_t count, int64_t grain, Body body, void* argument) override;
  bool stopped() const override;
  int32_t set_sizes(uint32_t result, std::span<const int64_t> sizes, void** data) override;
  int32_t run_graph(uint32_t graph, const tenon_tensor* const* operands, const tenon_tensor* const* results) override;
  int32_t graph_ports(uint32_t graph, uint32_t* operands, uint32_t* results) override {
    return graph_calls_.ports(graph, operands, results);
  }
  void set_views(plugin::TensorViews& operands, plugin::TensorViews& results, const PluginCase& at);
  int32_t layout_of_result(size_t k) const { return layouts_[operands_.size() + k]; }
  void set_result_type(size_t k, DType dtype, const Sizes& sizes);
  void check_operands(const Memory& memory, const std::vector<Tensor>& operands, RunResults& out) const;
  void lay_out(Memory& memory, const std::vector<Tensor>& operands, const PluginRunOptions& options);
  void call_with(const PluginRunOptions& options, Memory& memory);
  RunResults collected(const Memory& memory, const std::vector<Tensor>& operands) const;
  bool may_be_overwritten(size_t operand) const;
  std::string name_of(size_t result) const;

  const plugin::Object& object_;
  const PluginCase& case_;
  plugin::TensorViews operands_, results_;
  plugin::Layouts layouts_;
  std::vector<Sizes> strides_;  ///< of operands, then of results
  Result<std::unique_ptr<ops::EvaluatedGraphs>> graphs_;
  plugin::GraphCalls graph_calls_;
  uint64_t workspace_ = 0;
  std::unique_ptr<Memory> memory_;  ///< of the last run
  plugin::HostCall call_;
  // During a run:
  const PluginRunOptions* options_ = nullptr;
  Memory* now_ = nullptr;                            ///< memory of the current run
  std::vector<std::optional<Sizes>> dynamic_sizes_;  ///< for each result of dynamic size: its sizes, once the object has set them
  std::vector<std::string> faults_;
  bool refused_ = false, met_ = false;
};

/// Whether sizes of the type are known only after the run.
bool has_dynamic_sizes(const ir::Type& type);
/// The first difference in bits: "result 0 differs in 3 of 24 bytes"; empty: equal.
std::string difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b);

}  // namespace tenon::cli
