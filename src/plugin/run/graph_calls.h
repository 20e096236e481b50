// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "plugin/run/inner_graphs.h"
#include "tenon/plugin.h"

namespace tenon::plugin {

/// Implements tenon_call::run_graph: checks the arguments that a library passes, runs the inner graph and records errors. Allocates nothing
/// while sizes do not change.
class GraphCalls {
 public:
  /// graphs: null where the node has none; outlive this.
  void set_graphs(InnerGraphs* graphs);
  int32_t run(uint32_t number, const tenon_tensor* const* operands, const tenon_tensor* const* results);
  int32_t ports(uint32_t number, uint32_t* operands, uint32_t* results);
  /// The error of `enqueue`. Where `enqueue` failed because run() failed, with the details of that error.
  Error with_cause(Error enqueue) const;
  /// Forgets the error of the last run.
  void forget() { error_.reset(); }

 private:
  struct LastCall {
    std::vector<Tensor> operands, results;
  };
  Result<void> checked_run(uint32_t number, const tenon_tensor* const* operands, const tenon_tensor* const* results);
  Result<void> check_number(uint32_t number) const;
  /// Stores the error for with_cause(), and its text as the failure text. Returns its tenon_status.
  int32_t keep(Error error);

  InnerGraphs* graphs_ = nullptr;
  std::vector<LastCall> last_calls_;  ///< arguments of the last call of each graph
  std::atomic<bool> busy_{false};
  std::optional<Error> error_;
};

}  // namespace tenon::plugin
