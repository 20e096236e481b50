// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "ir/graph.h"

namespace tenon::backend {

/// Nodes that a library accepts but fails to run, or computes differently from ONNX.
struct Fault {
  std::string_view domain, op;
  bool (*applies)(const ir::NodeView& view);
  std::string_view why;
};

/// Why one of them refuses the node, or a node in its bodies. Empty: none does.
std::string_view fault_of(std::span<const Fault> faults, const ir::NodeView& view);

/// More than one element, or unknown.
bool may_be_many(const ir::NodeView& view, size_t input);
/// Split into a number of parts of an axis of unknown size.
bool splits_unknown_size(const ir::NodeView& view);

}  // namespace tenon::backend
