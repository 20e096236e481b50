// SPDX-License-Identifier: Apache-2.0
#include "ops/training/loss.h"

#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"

namespace tenon::ops {

Result<void> infer_loss(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_dtype(view, 1, is_index, "i32 or i64"));
  TRY(require_rank(view, 0, 2, -1));
  const std::string reduction = view.attributes->text("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum") {
    return refuse(view, Code::bad_attribute, "reduction has an unknown value").expected("none, mean or sum").found(reduction);
  }
  Type out(dtype_of(view, 0));
  if (reduction != "none") out.shape = DimList{};
  else if (view.type(1).has_rank()) out.shape = view.type(1).shape;
  if (ranks_known(view, {0, 1})) {
    if (view.rank(1) != view.rank(0) - 1)
      return refuse(view, Code::rank_mismatch, "targets have one axis less than the scores").found(view.type(1).text());
    for (int k = 0; k < view.rank(1); ++k)
      TRY(require_equal(view, view.type(1).dim(k), view.type(0).dim(k == 0 ? 0 : k + 1), "sizes of targets and scores"));
    if (view.has(2) && view.type(2).has_rank()) TRY(require_equal(view, view.type(2).count(), view.type(0).dim(1), "weights and classes"));
  }
  set_output(view, 0, std::move(out));
  set_output(view, 1, view.type(0));
  return {};
}

Result<void> reduce_loss(Call& call, const std::vector<double>& log_probabilities) {
  const Tensor &scores = *call.in[0], &targets = *call.in[1];
  const ir::Attributes& a = *call.view.attributes;
  const int64_t classes = scores.shape()[1], inner = strides_of(scores.shape())[1], ignored = a.integer("ignore_index", 0);
  const bool ignores = a.has("ignore_index");
  std::vector<double> loss(targets.count());
  double sum = 0, weights = 0;
  for (int64_t i = 0; i < targets.count(); ++i) {
    int64_t target = targets.integer(i);
    if (ignores && target == ignored) continue;
    if (target < 0) target += classes;  // from the end, as in the definition
    if (target < 0 || target >= classes) {
      return refuse(call.view, Code::index_out_of_range, "a target is no class")
          .expected(std::to_string(-classes) + ".." + std::to_string(classes - 1))
          .found(std::to_string(targets.integer(i)));
    }
    const double weight = call.has(2) ? call.in[2]->number(target) : 1;
    loss[i] = -weight * log_probabilities[(i / inner * classes + target) * inner + i % inner];
    sum += loss[i];
    weights += weight;
  }
  const std::string reduction = a.text("reduction", "mean");
  if (reduction == "none") store_numbers(*TRY(call.make(0, targets.shape())), loss);
  else TRY(call.make(0, {}))->set_number(0, reduction == "sum" ? sum : sum / weights);
  return {};
}

ir::ValueId define_loss(ir::Builder& build, const NodeView& view, ir::ValueId log_probabilities, std::span<const ir::ValueId> in) {
  const ir::Attributes& a = *view.attributes;
  ir::ValueId target = cast_to(build, in[1], DType::i64), ignored, weight;
  const ir::ValueId zero = scalar_like(build, log_probabilities, 0);
  if (a.has("ignore_index")) {
    ignored = build("Equal", {target, build.scalar(DType::i64, static_cast<double>(a.integer("ignore_index", 0)))});
    target = build("Where", {ignored, build.scalar(DType::i64, 0), target});
  }
  const ir::ValueId axis = build.ints({1});
  const ir::ValueId column = build("GatherElements", {log_probabilities, build("Unsqueeze", {target, axis})}, {{"axis", int64_t{1}}});
  ir::ValueId loss = build("Neg", {build("Squeeze", {column, axis})});
  if (view.has(2)) weight = build("Gather", {in[2], target}, {{"axis", int64_t{0}}});
  if (weight) loss = build("Mul", {loss, weight});
  if (ignored) {
    loss = build("Where", {ignored, zero, loss});
    weight = build("Where", {ignored, zero, weight ? weight : scalar_like(build, zero, 1)});
  }
  const std::string reduction = a.text("reduction", "mean");
  if (reduction == "none") return loss;
  auto total = [&](std::string_view op, ir::ValueId x) { return build(op, {x}, {{"keepdims", int64_t{0}}}); };
  if (reduction == "sum") return total("ReduceSum", loss);
  return weight ? build("Div", {total("ReduceSum", loss), total("ReduceSum", weight)}) : total("ReduceMean", loss);
}

}  // namespace tenon::ops
