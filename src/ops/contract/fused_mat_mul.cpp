// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "ops/definition/activated.h"
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_fused_mat_mul {

namespace {

/// An operand in the layout of MatMul. `batch`: its first axis is the rows, the batch axes follow; `transpose`: its last two axes are
/// swapped.
ir::ValueId side(ir::Builder& build, ir::ValueId x, int64_t rank, bool batch, bool transpose) {
  if (rank < 2 || (!batch && !transpose)) return x;
  Ints perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (batch) {
    for (int64_t k = 0; k + 2 < rank; ++k) perm[k] = k + 1;
    perm[rank - 2] = 0;
  }
  if (transpose) std::swap(perm[rank - 2], perm[rank - 1]);
  return build("Transpose", {x}, {{"perm", perm}});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {0, 1})) return {};
  const auto flag = [&](std::string_view name) { return view.attributes->integer(name, 0) != 0; };
  const ir::ValueId a = side(build, in[0], view.rank(0), flag("transBatchA"), flag("transA"));
  const ir::ValueId b = side(build, in[1], view.rank(1), flag("transBatchB"), flag("transB"));
  return {scaled(build, build("MatMul", {a, b}), view.type(0).dtype, view.attributes->number("alpha", 1))};
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  return infer_by_definition(view);
}

}  // namespace

OP(fused_mat_mul) {
    .name = "FusedMatMul",
    .domain = "com.microsoft",
    .inputs = {{"A", "B"}},
    .outputs = {{"Y"}},
    .attributes = {{"alpha: float = 1.0", "transA: int = 0", "transB: int = 0", "transBatchA: int = 0", "transBatchB: int = 0"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[2,3,4], f32[2,4,5]; alpha=0.5", "f32[2,4,3], f32[2,5,4]; transA=1, transB=1", "f32[3,2,4], f32[2,4,5]; transBatchA=1",
                 "f32[2,3,4], f32[5,2,4]; transBatchB=1, transB=1, alpha=2.0", "f32[3,4], f32[4,5]"}},
};

}  // namespace tenon::ops::op_fused_mat_mul
