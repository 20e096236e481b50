// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "ops/form/indices.h"

namespace tenon::ops {

/// The dtype in which a loop computes: f32 for f16 and bf16, else `dtype`, integers too.
DType compute_dtype(DType dtype);
/// The expression cast to the compute_dtype of its dtype.
Expr to_compute_dtype(Expr e);
std::vector<Axis> parallel_axes(const DimList& shape);
/// A read of operand `input` of the node.
Access operand_access(const NodeView& view, size_t input, std::vector<Expr> index);
/// A read of output `output` of loop number `loop`, which comes before in the form.
Access loop_output_access(int loop, int output, DType dtype, std::vector<Expr> index);
/// Adds the access to the loop and returns the expression of its value (in the dtype of the access).
Expr load(Loop& loop, Access access);
/// The rank of every present operand and result is known. Errors: not_supported.
Result<void> require_known_ranks(const NodeView& view);
/// An output that the loop writes as a whole: one element for each point of its parallel axes, whose sizes are `shape`. `value` is cast to
/// the dtype.
Output full_output(DType dtype, const DimList& shape, Expr value);
/// A loop form of one loop whose outputs are the results.
LoopForm single_loop_form(Loop loop);
/// A loop form of several loops, whose result 0 is output 0 of the last one.
LoopForm loop_sequence_form(std::vector<Loop> loops);
/// The loop form of an element-wise op: every operand is broadcast to the shape of result 0. `body` gets one expression of compute_dtype an
/// operand (null for a missing one); its value is cast to the result's dtype.
using MapBody = std::function<Expr(std::span<const Expr>)>;
Result<LoopForm> map_form(const NodeView& view, const MapBody& body);

/// `.loop_form = map_form<[](std::span<const Expr> x) { return exp(x[0]); }>`
template <auto body>
Result<LoopForm> map_form(const NodeView& view) {
  return map_form(view, body);
}

/// `.loop_form = unary_form<[](Expr x) { return exp(x); }>`, also binary.
template <auto body>
Result<LoopForm> unary_form(const NodeView& view) {
  return map_form(view, [](std::span<const Expr> x) { return body(x[0]); });
}

template <auto body>
Result<LoopForm> binary_form(const NodeView& view) {
  return map_form(view, [](std::span<const Expr> x) { return body(x[0], x[1]); });
}
/// The loop form of an op that moves elements: result 0 [axes...] = operand[index(axes...)], cast to the result's dtype; `fill` where
/// `within` (unless null) is false.
Result<LoopForm> index_form(const NodeView& view, size_t input, std::vector<Expr> index, Expr within = {}, Expr fill = {});

}  // namespace tenon::ops
