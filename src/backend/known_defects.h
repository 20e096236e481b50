// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "ir/graph.h"

namespace tenon::backend {

/// A kind of node that a library accepts but fails to run, or computes differently from ONNX.
struct KnownDefect {
  std::string_view domain, op;
  bool (*applies)(const ir::NodeView& view);
  std::string_view why;  ///< text for errors
};

/// The `why` of the first entry that applies to the node, or to a node in its bodies; empty: none applies.
std::string_view known_defect_in(std::span<const KnownDefect> defects, const ir::NodeView& view);

/// Whether the operand has more than one element, or its number of elements is unknown.
bool may_have_several_elements(const ir::NodeView& view, size_t input);
/// Whether the node is a Split into a number of parts along an axis of unknown size.
bool splits_unknown_size(const ir::NodeView& view);

}  // namespace tenon::backend
