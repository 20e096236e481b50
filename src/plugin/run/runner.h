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

/// What a run may use.
struct RunResources {
  ThreadPool* thread_pool = nullptr;          ///< null: the calling thread alone
  int threads = 1;                            ///< of the thread pool
  bool (*stopped)(const void* of) = nullptr;  ///< whether the run shall end; null: it shall not
  const void* stopped_of = nullptr;
};

/// Calls `enqueue` of an object. Allocates nothing in run() but results of data-dependent shape.
class Runner final : public NodeRunner, private CallServices {
 public:
  /// results: their dtypes. layouts: what the object takes; operands and results that we hold are row-major, and are brought there and
  /// back. Errors: those of attach.
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
  /// What `run_graph` runs; null: nothing. Outlives the runner.
  void set_graphs(InnerGraphs* graphs) { graphs_.set_graphs(graphs); }
  void set_tactic(int32_t tactic) override { call_->tactic = tactic; }
  Result<void> run(const RunResources& resources) override;
  const Tensor& late(size_t index) const override { return late_[index]; }

 private:
  Runner(std::shared_ptr<const Object> object, std::unique_ptr<Object> attached, size_t operands, std::vector<DType> results);
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
  /// The sizes and elements of a late result of the run before.
  void forget(size_t result);
  const Object& object() const { return attached_ ? *attached_ : *shared_; }

  std::shared_ptr<const Object> shared_;
  std::unique_ptr<Object> attached_;  ///< null: contexts share the one
  TensorViews operands_, results_;
  struct LayoutConversions {
    LayoutConversion operands, results;
  };
  std::unique_ptr<LayoutConversions> conversions_;  ///< null: all is row-major
  std::vector<DType> dtypes_;
  std::vector<Tensor> late_;
  std::vector<bool> is_late_;
  bool any_late_ = false;
  Tensor workspace_;
  GraphCalls graphs_;
  const RunResources* resources_;  ///< of no run where none is under way: libraries may keep what they were given
  HostCall call_;
};

}  // namespace tenon::plugin
