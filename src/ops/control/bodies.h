// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/types.h"

namespace tenon::ops {

/// Types of a body's results as they stand.
std::vector<Type> body_outputs(const NodeView& view, size_t body);
/// Each body has `formal` inputs in addition to what it captures. Errors: bad_graph.
Result<void> require_formal_inputs(const NodeView& view, size_t formal);
/// Declared types of a body's inputs.
std::vector<Type> body_input_types(const NodeView& view, size_t body);
/// What holds for either: equal sizes stay, others become fresh; another rank gives an unknown one. Errors: dtype_mismatch.
Result<Type> common_type(const NodeView& view, const Type& a, const Type& b);
/// Type of a value that a loop carries: the initial one, with sizes that change replaced by symbols (which stay the same when
/// called again). current: the body's input as typed so far; next: the body's result.
Type carried_type(const NodeView& view, const Type& initial, const Type& current, const Type& next);
/// Type of a carried value after the loop.
Type final_type(const NodeView& view, const Type& initial, const Type& carried);
/// Where among the node's inputs the captures of body `body` begin.
size_t first_capture(const NodeView& view, size_t body);
/// Captured operands of body `body`.
std::vector<Tensor> captures_of(const Call& call, size_t body);
/// How many results a node has whose body 0 makes them, `others` of its outputs left out; 1 where there is no such body.
size_t results_of_body(const NodeView& view, size_t others = 0);

}  // namespace tenon::ops
