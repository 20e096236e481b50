// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/types.h"

namespace tenon::ops {

/// Types of a body's outputs as inferred so far.
std::vector<Type> body_outputs(const NodeView& view, size_t body);
/// Each body has `formal` inputs in addition to what it captures. Errors: bad_graph.
Result<void> require_formal_inputs(const NodeView& view, size_t formal);
/// Declared types of a body's inputs.
std::vector<Type> body_input_types(const NodeView& view, size_t body);
/// The most specific type that covers both: equal sizes stay, others become fresh symbols; different ranks give an unknown rank. Errors:
/// dtype_mismatch.
Result<Type> common_type(const NodeView& view, const Type& a, const Type& b);
/// Type of a loop-carried value: the initial type, with sizes that change between iterations replaced by symbols (the same ones when called
/// again). current: the body's input as typed so far; next: the body's result.
Type carried_type(const NodeView& view, const Type& initial, const Type& current, const Type& next);
/// Type of a carried value after the loop.
Type final_type(const NodeView& view, const Type& initial, const Type& carried);
/// The index of the first capture of body `body` among the node's inputs.
size_t first_capture(const NodeView& view, size_t body);
/// Captured operands of body `body`.
std::vector<Tensor> captures_of(const Call& call, size_t body);
/// OpDef::result_count of a node whose results are the outputs of body 0 but for `others` of them; 1 where there is no body.
size_t results_of_body(const NodeView& view, size_t others = 0);

}  // namespace tenon::ops
