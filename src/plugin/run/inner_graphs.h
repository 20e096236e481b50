// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/tensor.h"

namespace tenon::plugin {

/// Runs the graphs that a node's op added (tenon_op::add_graphs), by the order in which it added them. One thread at a time.
class InnerGraphs {
 public:
  struct Ports {
    size_t operands = 0, results = 0;
  };
  virtual ~InnerGraphs() = default;
  virtual uint32_t count() const = 0;
  /// number: below count(), here and below.
  virtual Ports ports(uint32_t number) const = 0;
  /// results: memory that they are written to. Errors: bad_input for operands or results of wrong types; those of the run.
  virtual Result<void> run(uint32_t number, std::span<const Tensor> operands, std::span<const Tensor> results) = 0;
};

}  // namespace tenon::plugin
