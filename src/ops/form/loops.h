// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "ops/form/indices.h"

namespace tenon::ops {

/// f16 and bf16 are computed in f32; other dtypes stay.
DType compute_dtype(DType dtype);
Expr widen(Expr e);
std::vector<Axis> parallel_axes(const DimList& shape);
/// An access to operand `input` of the node.
Access read(const NodeView& view, size_t input, std::vector<Expr> index);
/// An access to output `output` of an earlier loop.
Access read_earlier(int loop, int output, DType dtype, std::vector<Expr> index);
/// Adds the access and gives the expression that loads it (not widened).
Expr load(Loop& loop, Access access);
/// The rank of every present operand and result is known. Errors: not_supported.
Result<void> require_ranks(const NodeView& view);
/// One output over the parallel axes of `shape`; value is cast to the dtype.
Output whole(DType dtype, const DimList& shape, Expr value);
/// A form of one loop whose outputs are the results.
LoopForm single(Loop loop);
/// A form whose result 0 is output 0 of its last loop.
LoopForm chain(std::vector<Loop> loops);
/// Element-wise: every operand broadcast to the shape of result 0. `body` gets one widened expression an operand (null for
/// a missing one); what it gives is cast to the result's dtype.
using MapBody = std::function<Expr(std::span<const Expr>)>;
Result<LoopForm> map_form(const NodeView& view, const MapBody& body);

/// `.form = map_of<[](std::span<const Expr> x) { return exp(x[0]); }>`
template <auto body>
Result<LoopForm> map_of(const NodeView& view) {
  return map_form(view, body);
}

/// `.form = unary_of<[](Expr x) { return exp(x); }>`, also binary.
template <auto body>
Result<LoopForm> unary_of(const NodeView& view) {
  return map_form(view, [](std::span<const Expr> x) { return body(x[0]); });
}

template <auto body>
Result<LoopForm> binary_of(const NodeView& view) {
  return map_form(view, [](std::span<const Expr> x) { return body(x[0], x[1]); });
}
/// One access: result 0 [axes...] = operand[index(axes...)], cast to the result's dtype.
Result<LoopForm> index_form(const NodeView& view, size_t input, std::vector<Expr> index, Expr within = {}, Expr fill = {});

}  // namespace tenon::ops
