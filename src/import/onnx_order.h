// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "import/onnx_model.h"

namespace tenon::import {

/// A topological order of `nodes`, as indices: every node comes after those whose results it or its bodies read. That is the file order
/// where it is valid, else the valid order that is lexicographically least by file position. Names that no node produces are ignored.
/// Errors: bad_graph (a cycle, with its nodes; two nodes that produce one name).  Cost: linear; n log n where nodes must move.
Result<std::vector<uint32_t>> order_of(const std::vector<OnnxNode>& nodes);

/// Calls `visit` for each name that a body reads from outside, at least once.
void each_free_name(const OnnxGraph& body, const std::function<void(std::string_view)>& visit);

}  // namespace tenon::import
