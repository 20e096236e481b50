// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_clip {

namespace {

Result<void> infer_clip(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a numeric dtype"));
  for (size_t k : {1, 2}) {
    TRY(require_same_dtype(view, 0, k));
    TRY(require_rank(view, k, 0, 1));
    TRY(require_single_element(view, k));
  }
  TRY(infer_same_type(view));
  const auto low = known_elements(view, 1), high = known_elements(view, 2);
  const auto unknown = [&](size_t input, const auto& bound) { return view.has(input) && (!bound || bound->size() != 1); };
  if (unknown(1, low) || unknown(2, high) || is_float(dtype_of(view, 0))) return {};
  propagate_data(view, [&](Dim d) -> std::optional<Dim> {
    if (low) d = max(d, (*low)[0]);
    if (high) d = min(d, (*high)[0]);
    return d;
  });
  return {};
}

Result<LoopForm> form_of_clip(const NodeView& view) {
  return map_form(view, [](std::span<const Expr> x) {
    Expr e = x[0];
    if (x.size() > 1 && x[1]) e = max(e, x[1]);
    if (x.size() > 2 && x[2]) e = min(e, x[2]);
    return e;
  });
}

Result<void> reference_of_clip(Call& call) {
  const double low = number_of(call, 1, -INFINITY), high = number_of(call, 2, INFINITY);
  if (call.in[0]->dtype() == DType::u64) {
    const uint64_t floor = call.has(1) ? static_cast<uint64_t>(call.in[1]->integer(0)) : 0;
    const uint64_t ceiling = call.has(2) ? static_cast<uint64_t>(call.in[2]->integer(0)) : UINT64_MAX;
    return map_elements(call, FloatUnary(),
                        [=](int64_t x) { return static_cast<int64_t>(std::min(std::max(static_cast<uint64_t>(x), floor), ceiling)); });
  }
  const int64_t least = int_of(call, 1, INT64_MIN), most = int_of(call, 2, INT64_MAX);
  return map_elements(
      call, [=](double x) { return minimum(maximum(x, low), high); }, [=](int64_t x) { return std::min(std::max(x, least), most); });
}

/// Before opset 11 the bounds were attributes.
Result<void> upgrade_clip(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 11) return {};
  const DType known = graph.value(graph.node(node).inputs[0]).type.dtype;
  const DType dtype = known == DType::none ? DType::f32 : known;
  TRY(attribute_to_operand(graph, node, "min", 1, dtype));
  return attribute_to_operand(graph, node, "max", 2, dtype);
}

}  // namespace

OP(clip) {
    .name = "Clip",
    .since_version = 13,
    .inputs = {{"input", "min?", "max?"}},
    .infer = infer_clip,
    .loop_form = form_of_clip,
    .reference = reference_of_clip,
    .upgrade = upgrade_clip,
    .lowest_opset = [](const NodeView& view) { return is_integer(dtype_of(view, 0)) ? 12 : 11; },
    .samples = {{"f32[2,3], f32[] = -1, f32[] = 1", "f32[2,3], _, f32[] = 1", "f16[4], f16[] = 0", "f64[0]",
                 "i64[5], i64[] = -2, i64[] = 3", "u8[3], u8[] = 2, u8[] = 5", "f32[4], f32[] = 2, f32[] = 1"}},
};

}  // namespace tenon::ops::op_clip
