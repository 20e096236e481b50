// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"

namespace tenon::passes {

Result<bool> infer_types(Graph& graph, Context&) {
  TRY(ir::infer_all(graph));
  return false;
}

}  // namespace tenon::passes
