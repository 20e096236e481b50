// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops::op_range {

namespace {

Result<void> infer_range(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a numeric dtype"));
  for (size_t k : {1, 2}) TRY(require_same_dtype(view, 0, k));
  for (size_t k : {0, 1, 2}) TRY(require_single_element(view, k));
  const DType dtype = dtype_of(view, 0);
  const auto begin = known_elements(view, 0), end = known_elements(view, 1), step = known_elements(view, 2);
  if (is_float(dtype) && !(begin && end && step)) {  // not all known to be whole
    const auto from = known_number(view, 0), to = known_number(view, 1), by = known_number(view, 2);
    const double count = from && to && by && *by != 0 ? std::ceil((*to - *from) / *by) : INFINITY;
    const bool known = count < 0x1p62;  // not where it is infinite, or no number
    set_output(view, 0, Type(dtype, {known ? Dim(static_cast<int64_t>(std::max(count, 0.0))) : view.symbols->fresh()}));
    return {};
  }
  if (!begin || !end || !step || begin->size() != 1 || end->size() != 1 || step->size() != 1 || !(*step)[0].is_number()) {
    set_output(view, 0, Type(dtype, {view.symbols->fresh()}));
    return {};
  }
  const Dim by = (*step)[0];
  if (by == Dim(0)) return refuse(view, Code::bad_attribute, "the step is 0");
  const Dim count = max(by.value() > 0 ? ceil_div((*end)[0] - (*begin)[0], by) : ceil_div((*begin)[0] - (*end)[0], 0 - by), 0);
  set_output(view, 0, Type(dtype, {count}));
  if (!count.is_number() || count.value() > static_cast<int64_t>(ir::kMaxShapeData)) return {};
  ShapeData data;
  for (int64_t i = 0; i < count.value(); ++i) data.push_back((*begin)[0] + by * i);
  set_data(view, 0, std::move(data));
  return {};
}

Result<LoopForm> form_of_range(const NodeView& view) {
  TRY(require_known_ranks(view));
  if (view.rank(0) != 0 || view.rank(2) != 0)
    return refuse(view, Code::not_supported, "not supported yet: a loop form for bounds that are no scalars");
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  const Expr begin = to_compute_dtype(load(loop, operand_access(view, 0, {}))),
             step = to_compute_dtype(load(loop, operand_access(view, 2, {})));
  loop.outputs.push_back(full_output(result.dtype, *result.shape, begin + cast(Expr::axis(0), begin.dtype()) * step));
  return single_loop_form(std::move(loop));
}

Result<void> reference_of_range(Call& call) {
  if (is_float(call.in[0]->dtype())) {
    const double begin = call.in[0]->number(0), end = call.in[1]->number(0), step = call.in[2]->number(0);
    const double count = std::max(std::ceil((end - begin) / step), 0.0);
    if (!(count < 0x1p40)) return refuse(call.view, Code::limit_exceeded, "the range is endless or too long");
    Tensor* out = TRY(call.make(0, {static_cast<int64_t>(count)}));
    for (int64_t i = 0; i < out->count(); ++i) out->set_number(i, begin + static_cast<double>(i) * step);
    return {};
  }
  const int64_t begin = call.in[0]->integer(0), end = call.in[1]->integer(0), step = call.in[2]->integer(0);
  if (step == 0) return refuse(call.view, Code::bad_attribute, "the step is 0");
  const auto distance = checked_sub(end, begin);
  if (!distance || *distance == INT64_MIN) return refuse(call.view, Code::size_overflow, "the range is too long");
  Tensor* out = TRY(call.make(0, {std::max<int64_t>(0, step > 0 ? ceil_div(*distance, step) : ceil_div(-*distance, -step))}));
  for (int64_t i = 0; i < out->count(); ++i) out->set_integer(i, begin + i * step);
  return {};
}

}  // namespace

OP(range) {
    .name = "Range",
    .since_version = 27,
    .inputs = {{"start", "limit", "delta"}},
    .attributes = {{"stash_type: int = 1 since 27"}},
    .infer = infer_range,
    .loop_form = form_of_range,
    .reference = reference_of_range,
    .lowest_opset = [](const NodeView&) { return 11; },
    .first_opset = 11,
    .samples = {{"i64[] = 0, i64[] = 5, i64[] = 1", "i64[] = 10, i64[] = 3, i64[] = -2", "f32[] = 0, f32[] = 1, f32[] = 0.25",
                 "i32[] = 3, i32[] = 3, i32[] = 1", "f64[] = 1, f64[] = -1, f64[] = -0.5", "i64[] in 0..3, i64[] in 4..9, i64[] = 2"}},
};

}  // namespace tenon::ops::op_range
