// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_affine_grid {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 3));
  Type out(dtype_of(view, 0));
  const auto size = known_elements(view, 1);
  if (size) {
    if (size->size() != 4 && size->size() != 5)
      return refuse(view, Code::shape_mismatch, "size must name a picture or a volume")
          .expected("4 or 5 elements")
          .found(std::to_string(size->size()));
    const int64_t axes = static_cast<int64_t>(size->size()) - 2;
    if (view.type(0).has_rank())
      TRY(require_equal(view, *view.type(0).shape, DimList{(*size)[0], axes, axes + 1}, "sizes of theta and of the grid"));
    out.shape = DimList{(*size)[0]};
    out.shape->insert(out.shape->end(), size->begin() + 2, size->end());
    out.shape->push_back(static_cast<int64_t>(size->size()) - 2);
  } else if (const auto n = known_length(view, 1)) {
    out.shape.emplace();
    for (int64_t k = 0; k + 1 < *n; ++k) out.shape->push_back(view.symbols->fresh());
    out.shape->push_back(*n - 2);
  }
  set_output(view, 0, std::move(out));
  return {};
}

/// The loop form: the sum below at each position of the result.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DimList& shape = *view.outputs[0].shape;
  const int rank = static_cast<int>(shape.size()) - 2;
  const bool corners = view.attributes->integer("align_corners", 0) != 0;
  Loop loop;
  loop.axes = parallel_axes(shape);
  const Expr row = Expr::axis(rank + 1);
  auto theta = [&](int column) {
    return to_compute_dtype(load(loop, operand_access(view, 0, {Expr::axis(0), row, index_constant(column)})));
  };
  Expr sum = theta(rank);
  for (int k = 0; k < rank; ++k) {
    auto number = [&](Expr e) { return cast(e, sum.dtype()); };
    const Expr place = number(Expr::axis(rank - k)), length = number(size_expr(shape[rank - k]));
    const Expr coordinate = corners ? 2 * place / (length - 1) - 1 : (2 * place + 1) / length - 1;
    sum = sum + theta(k) * coordinate;
  }
  loop.outputs.push_back(full_output(view.outputs[0].dtype, shape, sum));
  return single_loop_form(std::move(loop));
}

/// grid[n, position, row] = sum over axes of theta[n, row, axis] * coordinate(axis) + theta[n, row, last]; the coordinates of a
/// position run from -1 to 1, the last spatial axis first.
Result<void> evaluate(Call& call) {
  const Tensor& theta = *call.in[0];
  const Ints size = ints_of(call, 1);
  const int64_t rank = static_cast<int64_t>(size.size()) - 2;
  if (rank < 2 || rank > 3 || theta.shape() != Sizes{size[0], rank, rank + 1}) {
    return refuse(call.view, Code::shape_mismatch, "theta and size do not fit").found(type_text(theta.dtype(), theta.shape()));
  }
  const bool corners = call.view.attributes->integer("align_corners", 0) != 0;
  Sizes shape{size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  const Sizes space(size.begin() + 2, size.end());
  shape.push_back(rank);
  Tensor& y = *TRY(call.make(0, shape));
  const int64_t points = count_of(space);
  for (int64_t i = 0; i < y.count(); ++i) {
    const int64_t n = i / (points * rank), row = i % rank;
    const Sizes at = index_of(i / rank % points, space);
    double sum = theta.number((n * rank + row) * (rank + 1) + rank);
    for (int64_t k = 0; k < rank; ++k) {
      const double place = static_cast<double>(at[rank - 1 - k]), length = static_cast<double>(space[rank - 1 - k]);
      const double coordinate = corners ? 2 * place / (length - 1) - 1 : (2 * place + 1) / length - 1;
      sum += theta.number((n * rank + row) * (rank + 1) + k) * coordinate;
    }
    y.set_number(i, sum);
  }
  return {};
}

}  // namespace

OP(affine_grid) {
    .name = "AffineGrid",
    .since_version = 20,
    .inputs = {{"theta", "size"}},
    .outputs = {{"grid"}},
    .attributes = {{"align_corners: int = 0"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .first_opset = 20,
    .samples = {{"f32[2,2,3], i64[4] = [2,3,5,6]", "f32[1,3,4], i64[5] = [1,1,2,3,4]; align_corners=1"}},
};

}  // namespace tenon::ops::op_affine_grid
