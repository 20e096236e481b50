// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.h"

namespace tenon::ops {

/// OpDef::upgrade of Scan: opset 8 has a batch: operands [lengths?, states..., sequences...] with a first axis over which the scan is
/// repeated. That is a Scan over the entries of the batch whose body is the scan of one entry. An entry with a length scans the elements
/// before it; its stacked results have zeros from there on, as in ONNX Runtime (the specification does not say). Errors: not_supported (a
/// body with ops that have changed since).
Result<void> upgrade_scan(ir::Graph& graph, ir::NodeId node, int opset);

}  // namespace tenon::ops
