// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/infer/require.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_trilu {

namespace {

/// The element is kept or zeroed by comparing column - row with k.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!view.type(0).has_rank()) return {};
  const int64_t rank = view.rank(0);
  const auto positions = [&](int64_t axis) {
    const ir::ValueId size = build("Squeeze", {build("Shape", {in[0]}, {{"start", axis}, {"end", axis + 1}}), build.ints({0})});
    return build("Range", {build.scalar(DType::i64, 0), size, build.scalar(DType::i64, 1)});
  };
  const ir::ValueId distance = build("Sub", {positions(rank - 1), build("Unsqueeze", {positions(rank - 2), build.ints({1})})});
  const ir::ValueId k = view.has(1) ? build("Reshape", {in[1], build.ints({1})}) : build.ints({0});
  const bool upper = view.attributes->integer("upper", 1) != 0;
  const ir::ValueId kept = build(upper ? "GreaterOrEqual" : "LessOrEqual", {distance, k});
  return {build("Where", {kept, in[0], build.scalar(view.type(0).dtype, 0)})};
}

}  // namespace

OP(trilu) {
    .name = "Trilu",
    .since_version = 14,
    .inputs = {{"input", "k?"}},
    .attributes = {{"upper: int = 1"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_rank(view, 0, 2, -1));
      TRY(require_dtype(view, 1, [](DType d) { return d == DType::i64; }, "i64"));
      return infer_same_type(view);
    },
    .loop_form = [](const NodeView& view) -> Result<LoopForm> {
      TRY(require_known_ranks(view));
      const bool upper = view.attributes->integer("upper", 1) != 0;
      const Type& result = view.outputs[0];
      const int rank = result.rank();
      Loop loop;
      loop.axes = parallel_axes(*result.shape);
      Expr diagonal = index_constant(0);
      if (view.has(1))
        diagonal = load(loop, operand_access(view, 1, std::vector<Expr>(static_cast<size_t>(view.rank(1)), index_constant(0))));
      const Expr row = Expr::axis(rank - 2) + diagonal, column = Expr::axis(rank - 1);
      const Expr x = load(loop, operand_access(view, 0, axis_indices(rank)));
      const Expr zero = is_float(result.dtype) ? Expr::constant(result.dtype, 0) : Expr::integer(result.dtype, 0);
      loop.outputs.push_back(full_output(result.dtype, *result.shape, select(upper ? row <= column : column <= row, x, zero)));
      return single_loop_form(std::move(loop));
    },
    .reference = [](Call& call) -> Result<void> {
      const Tensor& x = *call.in[0];
      const bool upper = call.view.attributes->integer("upper", 1) != 0;
      const int64_t k = int_of(call, 1, 0);
      const Sizes strides = strides_of(x.shape());
      return gather_elements(call, x, x.shape(), [&](const Sizes& at) {
        const int64_t distance = at[at.size() - 1] - at[at.size() - 2];
        return (upper ? distance >= k : distance <= k) ? offset_of(at, strides) : -1;
      });
    },
    .definition = define,
    .first_opset = 14,
    .samples = {{"f32[3,4]", "f32[3,4]; upper=0", "f16[2,3,3], i64[] = 1", "i64[3,3], i64[] = -1; upper=0", "bool[2,2]", "f64[0,3]",
                 "f32[3,2], i64[] = 7"}},
};

}  // namespace tenon::ops::op_trilu
