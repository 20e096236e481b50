// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/tensor.h"
#include "ir/graph.h"
#include "ops/core/host_kernel.h"

namespace tenon::ops {

/// declared: each op computes in fp64 and rounds to its declared dtype. wide: floating values stay fp64 from end to end, and integer and
/// bool values are those of `declared`, so that both take the same decisions.
enum class Mode : uint8_t { declared, wide };

/// The default limit of the bytes of one tensor that a reference function allocates.
constexpr int64_t kByteLimit = int64_t{16} << 30;

struct EvaluateOptions {
  Mode mode = Mode::declared;
  int64_t byte_limit = kByteLimit;  ///< of one tensor
  /// In mode wide: elements that are not finite in mode declared have that value. false: floating values have the range of fp64.
  bool keeps_declared_range = true;
  /// In mode declared: f32 elements of results that are no whole numbers are changed by up to 16 units in the last place (the same in each
  /// run), as sums in another order would: shows which later decisions (rounding to integers) depend on rounding errors.
  bool perturbs = false;
  /// Seed and position of the random numbers; equal scopes give equal numbers.
  RandomScope random = {};
  /// Counts down with every node that runs, those of definitions too, not those of bodies; below 0 the run ends. null: no limit.
  int64_t* nodes_left = nullptr;
  /// Kernels that run in the place of their nodes' reference functions, on operands that have the graph's types. Mode::declared alone. May
  /// be null.
  const HostKernels* host_kernels = nullptr;
  /// Called with each result of a node when it is computed, in order. May be null.
  std::function<void(ir::ValueId, const Tensor&)> on_value;
};

/// Runs a graph by reference. inputs: one a graph input; an empty handle, or nothing for the last ones, where the input's default is used.
/// Returns one tensor a graph output.
/// Random nodes without a stream are numbered as number_random_streams does.
/// Before a node runs, inference runs on the types and sizes that its operands really have.
/// Errors: bad_input where dtype or a known size differs; not_supported for inputs outside of host memory; limit_exceeded; what inference
/// or an op's reference returns. Cost: slow by design.
Result<std::vector<Tensor>> evaluate(const ir::Graph& graph, std::span<const Tensor> inputs, const EvaluateOptions& options = {});
/// One node on given tensors (nullptr: missing operand).
Result<std::vector<Tensor>> evaluate_node(const ir::Graph& graph, ir::NodeId node, std::span<const Tensor* const> inputs, Mode mode,
                                          int64_t byte_limit = kByteLimit, int64_t* nodes_left = nullptr, const RandomScope& random = {});

}  // namespace tenon::ops
