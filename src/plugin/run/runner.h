// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "plugin/layout/layout_conversion.h"
#include "plugin/object.h"
#include "plugin/run/graph_calls.h"
#include "plugin/run/host_call.h"
#include "plugin/run/node_runner.h"
#include "plugin/tensor_views.h"

namespace tenon::inline base {
class ThreadPool;
}

namespace tenon::plugin {

/// Threads that a run may use, and its stop request.
struct RunResources {
  ThreadPool* thread_pool = nullptr;          ///< null: the calling thread alone
  int threads = 1;                            ///< of the thread pool
  bool (*stopped)(const void* of) = nullptr;  ///< returns whether the run is to stop; null: it cannot be stopped
  const void* stopped_of = nullptr;           ///< argument of `stopped`
};

/// Runs a node of a plugin in this process, by `enqueue` of its object. run() allocates only results of data-dependent shape.
class Runner final : public NodeRunner, private CallServices {
 public:
  /// operands: their number. results: their dtypes. layouts: that the object uses; operands and results are row-major in the engine, and
  /// are converted. Errors: those of attach.
  static Result<std::unique_ptr<Runner>> make(std::shared_ptr<const Object> object, size_t operands, std::vector<DType> results,
                                              const Layouts& layouts = {});
  Runner(const Runner&) = delete;

  Result<void> set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places, const std::vector<bool>& wanted) override;
  void point_operand(size_t index, void* data) override {
    if (conversions_) [[unlikely]]
      conversions_->operands.set_data(index, data);
    else operands_.set_data(index, data);
  }
  void point_result(size_t index, void* data) override {
    if (conversions_) [[unlikely]]
      conversions_->results.set_data(index, data);
    else results_.set_data(index, data);
  }
  /// Sets the graphs that `run_graph` runs; null: none. They outlive the runner.
  void set_graphs(InnerGraphs* graphs) { graphs_.set_graphs(graphs); }
  void set_tactic(int32_t tactic) override { call_->tactic = tactic; }
  Result<void> run(const RunResources& resources) override;
  const Tensor& late(size_t index) const override { return late_[index]; }

 private:
  Runner(std::shared_ptr<const Object> object, std::unique_ptr<Object> attached, size_t operands, std::vector<DType> results);
  /// Sets resources_ for the duration of a run.
  struct Uses {
    Runner& runner;
    const RunResources* before;
    Uses(Runner& of, const RunResources& resources) : runner(of), before(std::exchange(of.resources_, &resources)) {}
    ~Uses() { runner.resources_ = before; }
    Uses(const Uses&) = delete;
  };
  Result<void> lay_out();
  Result<void> enqueue();
  int32_t parallel_for(int64_t count, int64_t grain, Body body, void* argument) override;
  bool stopped() const override;
  int32_t set_sizes(uint32_t result, std::span<const int64_t> sizes, void** data) override;
  int32_t run_graph(uint32_t graph, const tenon_tensor* const* operands, const tenon_tensor* const* results) override {
    return graphs_.run(graph, operands, results);
  }
  int32_t graph_ports(uint32_t graph, uint32_t* operands, uint32_t* results) override { return graphs_.ports(graph, operands, results); }
  /// Releases a result of data-dependent shape of the last run.
  void forget(size_t result);
  const Object& object() const { return attached_ ? *attached_ : *shared_; }

  std::shared_ptr<const Object> shared_;
  std::unique_ptr<Object> attached_;  ///< this context's own object; null: contexts share `shared_`
  TensorViews operands_, results_;
  struct LayoutConversions {
    LayoutConversion operands, results;
  };
  std::unique_ptr<LayoutConversions> conversions_;  ///< null: all layouts are row-major
  std::vector<DType> dtypes_;
  std::vector<Tensor> late_;
  std::vector<bool> is_late_;
  bool any_late_ = false;
  Tensor workspace_;
  GraphCalls graphs_;
  const RunResources* resources_;  ///< of the current run; between runs of none, since a library may keep the call and use it later
  HostCall call_;
};

}  // namespace tenon::plugin
