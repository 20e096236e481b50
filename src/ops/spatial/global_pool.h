// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/reduce/reduction.h"

namespace tenon::ops {

/// Result 0 has shape [N, C, 1, 1, ...].
Result<void> infer_global_pool(NodeView& view);
/// after(total, number of elements), where total combines before(element) over the elements of a plane. before null: the element itself.
Result<LoopForm> form_of_global_pool(const NodeView& view, Combine combine, const std::function<Expr(Expr)>& before,
                                     const std::function<Expr(Expr total, Expr count)>& after);
/// Calls `number` with the elements of each plane.
Result<void> reference_of_global_pool(Call& call, const std::function<double(std::span<const double>)>& number);

/// The fields that GlobalAveragePool, GlobalMaxPool and GlobalLpPool share.
constexpr OpDef global_pool_op(OpDef own) {
  own.since_version = 22;
  own.inputs = {.array = literals<"X">};
  own.outputs = {.array = literals<"Y">};
  own.infer = infer_global_pool;
  own.lowest_opset = [](const NodeView& view) { return view.type(0).dtype == DType::bf16 ? 22 : 7; };
  if (own.samples.empty())
    own.samples = {.array = literals<"f32[1,3,5,5]", "f32[2,3,7]", "f16[1,2,4,4]", "f64[2,1,2,3,2]", "f32[2,3,1,1]">};
  return own;
}

}  // namespace tenon::ops
