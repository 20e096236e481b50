// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"

namespace tenon::passes {

Result<bool> dead_code(Graph& graph, Context& context) { return rewrite::eliminate_dead_code(graph, context.options.rewriting.keep) > 0; }

}  // namespace tenon::passes
