// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.h"

namespace tenon::ops {

/// Infers every node again (bodies included) and compares with the stored types: dtypes equal, ranks equal, no two sizes known to
/// differ. Errors: those of inference; internal, naming node and result. Cost: one inference of the graph; changes nothing.
Result<void> verify_types(const ir::Graph& graph);

}  // namespace tenon::ops
