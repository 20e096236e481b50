// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/cumulative.h"

#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"

namespace tenon::ops {

Result<void> infer_cumulative(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a number type"));
  TRY(require_dtype(view, 1, is_index, "i32 or i64"));
  if (const auto axis = known_ints(view, 1); axis && axis->size() == 1 && view.type(0).has_rank())
    TRY(normalise_axis(view, axis->front(), view.rank(0)));
  set_output(view, 0, view.type(0));
  return {};
}

Result<LoopForm> cumulative_form(const NodeView& view, Combine combine) {
  TRY(require_known_ranks(view));
  const auto given = known_ints(view, 1);
  if (!given || given->size() != 1)
    return refuse(view, Code::not_supported, "not supported yet: a loop form where the axis is known at run time only");
  const int axis = TRY(normalise_axis(view, given->front(), view.rank(0)));
  const DimList& shape = *view.type(0).shape;
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  // The scanned axis is the innermost.
  RowLoop scan = reduce_rows(shape, std::vector<int>{axis});
  scan.loop.axes.back().kind = Axis::Kind::scanned;
  scan.loop.exclusive = view.attributes->integer("exclusive", 0) != 0;
  scan.loop.reverse = view.attributes->integer("reverse", 0) != 0;
  add_output(scan, wide, shape, scan.load_operand(view, 0), combine);
  scan.loop.outputs.back().index = scan.element_index;
  if (wide == dtype) return single_loop_form(std::move(scan.loop));
  RowLoop narrow = map_rows(shape, {});
  const Expr value = narrow.load_of_element(0, wide);
  add_output(narrow, dtype, shape, value);
  return loop_sequence_form({std::move(scan.loop), std::move(narrow.loop)});
}

Result<void> cumulative_reference(Call& call, int64_t identity, double (*number)(double, double), int64_t (*integer)(int64_t, int64_t)) {
  const Tensor& t = *call.in[0];
  int64_t axis = int_of(call, 1, 0);
  if (!wrap_axis(axis, t.rank())) return refuse(call.view, Code::axis_out_of_range, "the axis lies outside of the operand's rank");
  const bool exclusive = call.view.attributes->integer("exclusive", 0) != 0, reverse = call.view.attributes->integer("reverse", 0) != 0;
  const RowOffsets rows = row_offsets(t.shape(), std::vector<int>{static_cast<int>(axis)});
  auto run = [&](auto x, auto start, auto combine) {
    const int64_t n = static_cast<int64_t>(rows.inner.size());
    for (int64_t base : rows.bases) {
      auto running = start;
      for (int64_t k = 0; k < n; ++k) {
        auto& at = x[base + rows.inner[reverse ? n - 1 - k : k]];
        const auto next = combine(running, at);
        at = exclusive ? running : next;
        running = next;
      }
    }
    return x;
  };
  Tensor& y = *TRY(call.make(0, t.shape()));
  if (is_float(t.dtype())) store_numbers(y, run(numbers_of(t), static_cast<double>(identity), number));
  else store_integers(y, run(integers_of(t), identity, integer));
  return {};
}

}  // namespace tenon::ops
