// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/tensor.h"

namespace tenon::plugin {

/// Runs the graphs that a node added while its model was built (tenon_op::add_graphs), by their numbers there. One thread at a time.
class InnerGraphs {
 public:
  struct Ports {
    size_t operands = 0, results = 0;
  };
  virtual ~InnerGraphs() = default;
  virtual uint32_t count() const = 0;
  /// Of a graph that is there, as every number here.
  virtual Ports ports(uint32_t number) const = 0;
  /// results: where they go. Errors: what the graph does not take or give; those of its run.
  virtual Result<void> run(uint32_t number, std::span<const Tensor> operands, std::span<const Tensor> results) = 0;
};

}  // namespace tenon::plugin
