// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "base/tensor.h"

namespace tenon::plugin {

struct RunResources;

/// Runs a node of a plugin in one context: set_shapes() first, then any number of times point_operand(), point_result() and run(). One
/// thread at a time.
class NodeRunner {
 public:
  virtual ~NodeRunner() = default;
  /// Sets shapes and data of operands, and shapes and memory of results (places): an empty handle where an operand is missing, or a
  /// result's sizes depend on data. wanted: false for a result without readers. Operands keep this data until point_operand().
  /// Errors: those of shapes_changed and workspace; out_of_memory.
  virtual Result<void> set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places, const std::vector<bool>& wanted) = 0;
  /// Sets the address of an operand.
  virtual void point_operand(size_t index, void* data) = 0;
  /// Sets the address that a result is written to.
  virtual void point_result(size_t index, void* data) = 0;
  virtual void set_tactic(int32_t tactic) = 0;
  /// Errors: those of enqueue; device_failed for a result whose sizes were not set.
  virtual Result<void> run(const RunResources& resources) = 0;
  /// A result with data-dependent sizes, after run(). (Results with such sizes are called late.)
  virtual const Tensor& late(size_t index) const = 0;
  /// Whether point_result() may be null. Then the result stays in memory of the runner, and kept_result() is its address until the next
  /// run().
  virtual bool keeps_results() const { return false; }
  virtual void* kept_result(size_t /*index*/) const { return nullptr; }
  /// Bytes that each run copies to the process of the plugin, and back.
  virtual int64_t copied_bytes() const { return 0; }
};

}  // namespace tenon::plugin
