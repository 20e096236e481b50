// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "base/tensor.h"

namespace tenon::plugin {

struct RunResources;

/// Runs a node of a plugin in one context: first set_shapes, then, any number of times, point and run. One thread at a time.
class NodeRunner {
 public:
  virtual ~NodeRunner() = default;
  /// Operands, and the places of results: an empty handle where an operand is missing, or a result's sizes depend on data; wanted: false
  /// for a result that nobody reads. Operands that are not pointed elsewhere afterwards keep these elements.
  /// Errors: those of shapes_changed and workspace; out_of_memory.
  virtual Result<void> set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places, const std::vector<bool>& wanted) = 0;
  virtual void point_operand(size_t index, void* data) = 0;
  virtual void point_result(size_t index, void* data) = 0;
  virtual void set_tactic(int32_t tactic) = 0;
  /// Errors: those of enqueue; device_failed for a result whose sizes were left untold.
  virtual Result<void> run(const RunResources& resources) = 0;
  /// A result whose sizes depend on data, after run().
  virtual const Tensor& late(size_t index) const = 0;
  /// Whether a result may be pointed at null: then kept() returns where it is, after run() and until the next one.
  virtual bool keeps_results() const { return false; }
  virtual void* kept(size_t /*index*/) const { return nullptr; }
  /// Bytes that each run moves to where the plugin is, and back.
  virtual int64_t copied_bytes() const { return 0; }
};

}  // namespace tenon::plugin
