// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/infer/require.h"
#include "ops/reference/arguments.h"

namespace tenon::ops::op_non_max_suppression {

namespace {

Result<void> infer(NodeView& view) {
  for (size_t k : {0, 1}) TRY(require_rank(view, k, 3));
  if (ranks_known(view, {0, 1})) {
    TRY(require_equal(view, view.type(0).dim(0), view.type(1).dim(0), "batch sizes of boxes and scores"));
    TRY(require_equal(view, view.type(0).dim(1), view.type(1).dim(2), "numbers of boxes and scores"));
    TRY(require_equal(view, view.type(0).dim(2), 4, "last dimension of boxes and 4"));
  }
  set_output(view, 0, Type(DType::i64, {view.symbols->fresh(), 3}));
  return {};
}

struct Box {
  double y1, x1, y2, x2;
  double area() const { return (y2 - y1) * (x2 - x1); }
};

Box box_of(const double* p, bool centre) {
  if (centre) return {p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};
  return {std::fmin(p[0], p[2]), std::fmin(p[1], p[3]), std::fmax(p[0], p[2]), std::fmax(p[1], p[3])};
}

/// 0 where the boxes do not overlap or are empty.
double intersection_over_union(const Box& a, const Box& b) {
  const double height = std::fmin(a.y2, b.y2) - std::fmax(a.y1, b.y1), width = std::fmin(a.x2, b.x2) - std::fmax(a.x1, b.x1);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

Result<void> evaluate(Call& call) {
  const std::vector<double> boxes = numbers_of(*call.in[0]), scores = numbers_of(*call.in[1]);
  const int64_t batch = call.in[0]->shape()[0], count = call.in[0]->shape()[1], classes = call.in[1]->shape()[1];
  const int64_t limit = int_of(call, 2, 0);
  const double iou_threshold = number_of(call, 3, 0), score_threshold = number_of(call, 4, -INFINITY);
  const bool centre = call.view.attributes->integer("center_point_box", 0) != 0;
  Ints selected;
  for (int64_t row = 0; row < batch * classes; ++row) {
    std::vector<std::pair<double, int64_t>> order;  // best score first, then lowest index
    for (int64_t i = 0; i < count; ++i)
      if (const double s = scores[row * count + i]; !call.has(4) || s > score_threshold) order.emplace_back(-s, i);
    std::sort(order.begin(), order.end());
    std::vector<Box> kept;
    for (auto [negated_score, i] : order) {
      if (static_cast<int64_t>(kept.size()) >= limit) break;
      const Box box = box_of(boxes.data() + (row / classes * count + i) * 4, centre);
      if (std::any_of(kept.begin(), kept.end(), [&](const Box& k) { return intersection_over_union(box, k) > iou_threshold; })) continue;
      kept.push_back(box);
      selected.insert(selected.end(), {row / classes, row % classes, i});
    }
  }
  store_integers(*TRY(call.make(0, {static_cast<int64_t>(selected.size()) / 3, 3})), selected);
  return {};
}

}  // namespace

OP(non_max_suppression) {
    .name = "NonMaxSuppression",
    .since_version = 11,
    .inputs = {{"boxes", "scores", "max_output_boxes_per_class?", "iou_threshold?", "score_threshold?"}},
    .outputs = {{"selected_indices"}},
    .attributes = {{"center_point_box: int = 0"}},
    .infer = infer,
    .reference = evaluate,
    .lowest_opset = [](const NodeView&) { return 10; },
    .first_opset = 10,
    .samples = {{"f32[1,6,4], f32[1,2,6], i64[] = 3, f32[] = 0.5, f32[] = 0",
                 "f32[2,5,4] in 0.1..1, f32[2,1,5], i64[1] = [2], f32[1] = [0.3]; center_point_box=1", "f32[1,3,4], f32[1,1,3]"}},
};

}  // namespace tenon::ops::op_non_max_suppression
