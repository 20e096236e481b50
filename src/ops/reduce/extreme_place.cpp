// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/extreme_place.h"

#include "ops/infer/axes.h"
#include "ops/infer/require.h"

namespace tenon::ops {

Result<void> infer_arg(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a number type"));
  Type out(DType::i64);
  if (view.type(0).has_rank()) {
    const std::vector<int> axis{TRY(axis_attribute(view, 0))};
    TRY(require_at_least(view, view.type(0).dim(axis[0]), 1, "the axis is empty"));
    out.shape = reduced_shape(*view.type(0).shape, axis, view.attributes->integer("keepdims", 1) != 0);
  }
  set_output(view, 0, std::move(out));
  return {};
}

Result<LoopForm> arg_form(const NodeView& view, Combine extreme) {
  TRY(require_known_ranks(view));
  const std::vector<int> axis{TRY(axis_attribute(view, 0))};
  const DimList& shape = *view.type(0).shape;
  const DType wide = compute_dtype(view.type(0).dtype);
  const bool last = view.attributes->integer("select_last_index", 0) != 0;
  RowLoop best = reduce_rows(shape, axis);
  add_output(best, wide, without_axes(shape, axis), best.load_operand(view, 0), extreme);
  RowLoop where = reduce_rows(shape, axis);
  const Expr x = where.load_operand(view, 0), b = where.load_of_row(0, wide);
  Expr hit = equal(x, b);
  if (is_float(wide)) hit = logical_or(hit, unary(ExprOp::is_nan, x));
  const Expr nowhere = last ? index_constant(-1) : size_expr(shape[axis[0]]);
  const Expr position = select(hit, where.element_index[axis[0]], nowhere);
  add_row_output(where, DType::i64, shape, axis, view.attributes->integer("keepdims", 1) != 0, position,
                 last ? Combine::max : Combine::min);
  return loop_sequence_form({std::move(best.loop), std::move(where.loop)});
}

Result<void> arg_reference(Call& call, bool (*better)(double, double), bool (*better_integer)(int64_t, int64_t)) {
  const Tensor& x = *call.in[0];
  const int axis = TRY(normalise_axis(call.view, call.view.attributes->integer("axis", 0), x.rank()));
  const bool last = call.view.attributes->integer("select_last_index", 0) != 0,
             keepdims = call.view.attributes->integer("keepdims", 1) != 0;
  Sizes shape = x.shape();
  const int64_t n = shape[axis], step = strides_of(shape)[axis];
  if (keepdims) shape[axis] = 1;
  else shape.erase(shape.begin() + axis);
  Tensor& y = *TRY(call.make(0, shape));
  if (n == 0 && y.count() > 0) return refuse(call.view, Code::index_out_of_range, "the axis is empty");
  auto run = [&](auto from, auto wins) {
    int64_t i = 0;
    for (int64_t base : row_offsets(x.shape(), std::vector<int>{axis}).bases) {
      int64_t best = 0;
      for (int64_t k = 1; k < n; ++k) {
        const auto have = from[base + best * step], see = from[base + k * step];
        if (wins(have, see) || (last && !wins(see, have) && (see == see || have != have))) best = k;
      }
      y.set_integer(i++, best);
    }
  };
  if (is_float(x.dtype())) run(numbers_of(x), [&](double a, double b) { return a == a && (b != b || better(a, b)); });
  else if (x.dtype() == DType::u64) {
    // Flipping the top bit maps the order of unsigned numbers to that of signed ones.
    std::vector<int64_t> flipped = integers_of(x);
    for (int64_t& v : flipped) v = static_cast<int64_t>(static_cast<uint64_t>(v) ^ (uint64_t{1} << 63));
    run(flipped, better_integer);
  } else run(integers_of(x), better_integer);
  return {};
}

}  // namespace tenon::ops
