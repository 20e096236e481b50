// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ops/core/string_list.h"
#include "ops/reduce/rows.h"
#include "ops/reference/integers.h"
#include "ops/versions/adapters.h"

namespace tenon::ops {

inline constexpr StringList kFloatReduceSamples = {{"f32[2,3,4], i64[1] = [1]", "f32[2,3,4]; keepdims=0",
                                                    "f32[2,3,4], i64[2] = [-1, 0]; keepdims=0", "f16[3,5], i64[1] = [-1]", "f64[7]",
                                                    "f32[2,3], i64[0] = []; noop_with_empty_axes=1", "f32[]"}};
inline constexpr StringList kMoreReduceSamples = {{"f32[2,0,3], i64[1] = [1]", "i32[2,3], i64[1] = [0]", "i64[4,2]; keepdims=0"}};
/// The sorted axes that a Reduce* node reduces; nullopt where they are known at run time only. Errors: axis_out_of_range.
Result<std::optional<std::vector<int>>> reduced_axes(const NodeView& view);
Result<void> infer_reduce(NodeView& view, bool (*accepted)(DType), std::string_view wanted);
Result<void> infer_number_reduce(NodeView& view);
/// The loop form of a reduction: combines before(element); result after(total, number of reduced elements). Both functions may be null.
Result<LoopForm> form_of_reduce(const NodeView& view, Combine combine, Expr (*before)(Expr) = nullptr, Expr (*after)(Expr, Expr) = nullptr);
/// Computes each element of the result with `number` (floats) or `integer` from the elements that it reduces.
Result<void> reference_of_reduce(Call& call, const std::function<double(std::span<const double>)>& number,
                                 const std::function<int64_t(std::span<const int64_t>)>& integer);
/// Addition and multiplication of elements in reference functions: doubles, or integers that wrap around.
inline double plus(double a, double b) { return a + b; }
inline int64_t plus(int64_t a, int64_t b) { return wrap_add(a, b); }
inline double times(double a, double b) { return a * b; }
inline int64_t times(int64_t a, int64_t b) { return wrap_mul(a, b); }

/// `.reference = fold_rows<0, [](auto total, auto x) { return plus(total, x); }>`: the result is finish(total, number of elements), where
/// total starts with `start` and becomes join(total, x) for each element x of a row.
template <int start, auto join, auto finish = [](auto total, size_t) { return total; }>
Result<void> fold_rows(Call& call) {
  const auto fold = [](auto row) {
    using T = std::remove_cvref_t<decltype(row[0])>;
    auto total = row.size() == 1 && start == 0 ? -T(0) : static_cast<T>(start);  // the sum of -0 alone is -0
    for (auto x : row) total = join(total, x);
    return finish(total, row.size());
  };
  return reference_of_reduce(
      call, [&](std::span<const double> row) { return fold(row); }, [&](std::span<const int64_t> row) { return fold(row); });
}

/// `.form = form_of_finished_sum<before, sqrt>`: finish(sum of before(x)), a function of real numbers: integers are
/// converted to f64, and the result is truncated.
template <auto before, auto finish>
Result<LoopForm> form_of_finished_sum(const NodeView& view) {
  return form_of_reduce(view, Combine::sum, before, [](Expr sum, Expr) {
    return is_float(sum.dtype()) ? finish(sum) : cast(finish(cast(sum, DType::f64)), sum.dtype());
  });
}
/// The reference of ReduceMax (`largest`) and ReduceMin.
Result<void> reference_of_extreme(Call& call, bool largest);

/// OpDef::lowest_opset of Reduce*: 7 where axes are constant or missing (so that an attribute can give them), else `operand_since`.
template <int operand_since>
int lowest_opset_of_reduce(const NodeView& view) {
  const bool attribute_fits = !view.has(1) || (view.inputs[1].constant && view.inputs[1].constant->count() > 0);
  return attribute_fits && view.attributes->integer("noop_with_empty_axes", 0) == 0 ? 7 : operand_since;
}
/// OpDef::lowest_opset of ReduceMax and ReduceMin: 12 for 8-bit integers, 20 for bool.
int lowest_opset_of_extreme(const NodeView& view);
Result<void> infer_extreme_reduce(NodeView& view);
/// The fields that the Reduce* ops share. `own` has the others: name, since_version, loop_form, reference, and fields that differ from the
/// usual.
constexpr OpDef reduce_op(OpDef own) {
  own.inputs = {.array = literals<"data", "axes?">};
  own.outputs = {.array = literals<"reduced">};
  own.attributes = {.array = literals<"keepdims: int = 1", "noop_with_empty_axes: int = 0">};
  if (!own.infer) own.infer = infer_number_reduce;
  own.upgrade = axes_to_operand;
  if (!own.lowest_opset) own.lowest_opset = lowest_opset_of_reduce<18>;
  own.downgrade = axes_to_attribute;
  if (own.samples.empty()) own.samples = {.array = concatenated<kFloatReduceSamples, kMoreReduceSamples>};
  return own;
}
/// The fields that ReduceMax and ReduceMin share; `own` has name, loop_form and reference.
constexpr OpDef extreme_reduce_op(OpDef own) {
  own.since_version = 20;
  own.infer = infer_extreme_reduce;
  own.lowest_opset = lowest_opset_of_extreme;
  own.samples = {.array = concatenated<kFloatReduceSamples, kMoreReduceSamples,
                                       literals<"i8[2,2], i64[1] = [0]", "u8[5]", "bool[2,3], i64[1] = [1]", "u64[3]">>};
  return reduce_op(own);
}

}  // namespace tenon::ops
