// SPDX-License-Identifier: Apache-2.0
#include "ops/core/host_kernel.h"

#include "ops/core/op.h"

namespace tenon::ops {

Result<HostKernels> host_kernels_of(const ir::Graph& graph) {
  HostKernels kernels;
  for (ir::NodeId n : graph.nodes()) {
    const OpDef& def = def_of(*graph.node(n).op);
    if (def.host_kernel) kernels.emplace(n, TRY(def.host_kernel(graph.view(n))));
  }
  return kernels;
}

}  // namespace tenon::ops
