// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "ir/graph.h"

namespace tenon::ops {

/// A plain C++ kernel for a node without a loop form: built once from the node's attributes, called by every run. Immutable.
class HostKernel {
 public:
  virtual ~HostKernel() = default;
  /// in: in the order of the node, nullptr where an operand is missing; of the types that inference found for the node. out: one slot a
  /// result. Errors: those of the op's reference function.
  virtual Result<void> run(std::span<const Tensor* const> in, std::vector<Tensor>& out) const = 0;
};

using HostKernels = std::unordered_map<ir::NodeId, std::unique_ptr<const HostKernel>>;

/// The kernels of the graph's nodes whose ops have one. Errors: those of OpDef::host_kernel.
Result<HostKernels> host_kernels_of(const ir::Graph& graph);

}  // namespace tenon::ops
