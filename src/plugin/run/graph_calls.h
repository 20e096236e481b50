// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "plugin/run/inner_graphs.h"
#include "tenon/plugin.h"

namespace tenon::plugin {

/// tenon_call::run_graph: looks at what a library gives, and keeps what went wrong. Allocates nothing while sizes stay.
class GraphCalls {
 public:
  /// null: the node has none. Outlives this.
  void set_graphs(InnerGraphs* graphs);
  int32_t run(uint32_t number, const tenon_tensor* const* operands, const tenon_tensor* const* results);
  int32_t ports(uint32_t number, uint32_t* operands, uint32_t* results);
  /// What `enqueue` returned; where it passes on what a call of run() said, with that error's parts.
  Error with_cause(Error enqueue) const;
  /// No run is under way.
  void forget() { error_.reset(); }

 private:
  struct LastCall {
    std::vector<Tensor> operands, results;
  };
  Result<void> checked_run(uint32_t number, const tenon_tensor* const* operands, const tenon_tensor* const* results);
  Result<void> check_number(uint32_t number) const;
  int32_t keep(Error error);

  InnerGraphs* graphs_ = nullptr;
  std::vector<LastCall> last_calls_;  ///< of each graph, as it was called last
  std::atomic<bool> busy_{false};
  std::optional<Error> error_;
};

}  // namespace tenon::plugin
