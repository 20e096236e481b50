// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cmath>

#include "cases.h"
#include "ir/builder.h"
#include "ops/core/op.h"

namespace tenon::tests {

/// A graph drawn from the ops that the rules move about, with shared values, outputs in the middle and symbolic sizes (0 too).
class Drawn {
  using Ints = ir::Ints;
  using ValueId = ir::ValueId;

 public:
  explicit Drawn(uint32_t seed) : random_(seed), graph_(std::make_unique<ir::Graph>(ops::table())), build_(*graph_) {
    const Dim b = graph_->symbols().symbol("b"), s = graph_->symbols().symbol("s");
    for (const DimList& shape : {DimList{b, 6}, DimList{1, b, 4}, DimList{b, s, 1}, DimList{b, 1, 6}})
      values_.push_back(graph_->add_input("x" + std::to_string(values_.size()), ir::Type(DType::f32, shape)));
    for (int i = 0; i < 14; ++i) step();
    for (size_t i = 4; i < values_.size(); ++i)
      if (i + 2 >= values_.size() || pick(6) == 0) graph_->add_output(values_[i]);
    rewrite::eliminate_dead_code(*graph_);
  }
  ir::Graph& graph() { return *graph_; }
  Result<void> status() const { return build_.status(); }

 private:
  int64_t pick(int64_t below) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(below)); }
  template <class T, size_t N>
  T one_of(const T (&list)[N]) {
    return list[pick(N)];
  }
  const DimList& shape(ValueId v) const { return *graph_->value(v).type.shape; }
  DType dtype(ValueId v) const { return graph_->value(v).type.dtype; }
  int64_t rank(ValueId v) const { return static_cast<int64_t>(shape(v).size()); }
  /// Recent ones more often.
  ValueId some() {
    const size_t n = values_.size();
    return values_[pick(3) == 0 ? static_cast<size_t>(pick(static_cast<int64_t>(n)))
                                : n - 1 - static_cast<size_t>(pick(std::min<int64_t>(4, static_cast<int64_t>(n))))];
  }
  void keep(ValueId v) {
    if (v && graph_->value(v).type.shape && rank(v) <= 5) values_.push_back(v);
  }

  void step() {
    const ValueId v = some();
    switch (pick(14)) {
      case 0: return reshape(v);
      case 1: return keep(build_("Unsqueeze", {v, build_.ints({pick(rank(v) + 1)})}));
      case 2: return squeeze(v);
      case 3: return expand(v);
      case 4: return transpose(v);
      case 5: return keep(build_(one_of<std::string_view>({"Tanh", "Neg", "Abs", "Relu", "Sigmoid", "Identity"}), {v}));
      case 6: return clip(v);
      case 7: return keep(build_("Cast", {v}, {{"to", static_cast<int64_t>(one_of({DType::f32, DType::f16, DType::f64}))}}));
      case 8: return number(v);
      case 9: return pair(v);
      case 10: return slice(v);
      case 11: return gather(v);
      case 12: return split(v);
      default: return reduce(v);
    }
  }

  void reshape(ValueId v) {
    Ints target(static_cast<size_t>(rank(v)), 0);
    const size_t last = target.size() - 1;
    if (target.empty()) return keep(build_("Reshape", {v, build_.ints({1, 1})}));
    switch (pick(4)) {
      case 0: target.insert(target.begin() + pick(static_cast<int64_t>(last) + 1), 1); break;
      case 1:
        if (!shape(v)[last].is_number() || shape(v)[last].value() % 2 != 0) return;
        target[last] = 2;
        target.push_back(-1);
        break;
      case 2:
        if (target.size() < 2) return;
        target.pop_back();
        target.back() = -1;
        break;
      default: target.assign(1, -1);
    }
    if (std::ranges::count(target, 0) && target.size() != static_cast<size_t>(rank(v))) return exact_reshape(v, target);
    keep(build_("Reshape", {v, build_.ints(target)}));
  }
  /// Zeros copy by place: only those in front of the change stay.
  void exact_reshape(ValueId v, Ints target) {
    for (size_t i = 0; i < target.size(); ++i) {
      if (target[i] != 0 && target[i] != 2) {
        for (size_t k = i + 1; k < target.size(); ++k)
          if (target[k] == 0) {
            if (!shape(v)[k - 1].is_number()) return;
            target[k] = shape(v)[k - 1].value();
          }
        break;
      }
    }
    if (std::ranges::count(target, 0) && std::ranges::any_of(shape(v), [](Dim d) { return d == Dim(0); })) return;
    keep(build_("Reshape", {v, build_.ints(target)}));
  }
  void squeeze(ValueId v) {
    Ints axes;
    for (int64_t i = 0; i < rank(v); ++i)
      if (shape(v)[static_cast<size_t>(i)] == Dim(1) && pick(2) == 0) axes.push_back(pick(2) == 0 ? i : i - rank(v));
    if (!axes.empty()) keep(build_("Squeeze", {v, build_.ints(axes)}));
  }
  void expand(ValueId v) {
    Ints target(static_cast<size_t>(rank(v)), 1);
    for (size_t i = 0; i < target.size(); ++i)
      if (shape(v)[i] == Dim(1)) target[i] = 1 + pick(3);
    if (pick(3) == 0) target.insert(target.begin(), 1 + pick(2));
    keep(build_("Expand", {v, build_.ints(target)}));
  }
  void transpose(ValueId v) {
    Ints perm;
    for (int64_t i = 0; i < rank(v); ++i) perm.push_back(i);
    std::ranges::shuffle(perm, random_);
    keep(build_("Transpose", {v}, {{"perm", perm}}));
  }
  void clip(ValueId v) {
    const ValueId low = pick(3) ? build_.scalar(dtype(v), one_of({-1.0, -0.25, 0.0, 0.5})) : ValueId();
    const ValueId high = pick(3) || !low ? build_.scalar(dtype(v), one_of({1.0, 0.25, -0.5})) : ValueId();
    keep(build_("Clip", high ? std::vector{v, low, high} : std::vector{v, low}));
  }
  void number(ValueId v) {
    const ValueId n = build_.scalar(dtype(v), one_of({0.0, 1.0, 2.0, -0.5, 0.25}));
    const auto op = one_of<std::string_view>({"Add", "Sub", "Mul", "Max"});
    keep(pick(2) ? build_(op, {v, n}) : build_(op, {n, v}));
  }
  void pair(ValueId v) {
    for (int tries = 0; tries < 4; ++tries) {
      const ValueId other = some();
      if (dtype(other) != dtype(v) || shape(other) != shape(v)) continue;
      return keep(build_(one_of<std::string_view>({"Add", "Sub", "Mul", "Min"}), {v, other}));
    }
    keep(build_("Add", {v, v}));
  }
  /// An axis with a numbered size above 1; -1 where there is none.
  int64_t wide_axis(ValueId v) {
    for (int64_t i = rank(v); i-- > 0;)
      if (const Dim d = shape(v)[static_cast<size_t>(i)]; d.is_number() && d.value() > 1) return i;
    return -1;
  }
  void slice(ValueId v) {
    const int64_t axis = pick(3) == 0 && rank(v) > 0 ? pick(rank(v)) : wide_axis(v);
    if (axis < 0) return;
    const int64_t start = pick(2);
    keep(build_("Slice", {v, build_.ints({start}), build_.ints({start + 1 + pick(3)}), build_.ints({pick(2) ? axis : axis - rank(v)})}));
  }
  void gather(ValueId v) {
    const int64_t axis = wide_axis(v);
    if (axis < 0) return;
    const int64_t size = shape(v)[static_cast<size_t>(axis)].value();
    keep(build_("Gather", {v, build_.ints({pick(size), size - 1, pick(size) - size})}, {{"axis", axis}}));
  }
  void split(ValueId v) {
    const int64_t axis = wide_axis(v);
    if (axis < 0 || shape(v)[static_cast<size_t>(axis)].value() % 2 != 0) return;
    const auto parts = build_.many("Split", {v}, 2, {{"axis", axis}, {"num_outputs", int64_t{2}}});
    if (parts.size() != 2) return;
    keep(parts[1]);
    keep(pick(3) ? build_("Concat", {parts[0], parts[1]}, {{"axis", axis - rank(v)}})
                 : build_("Concat", {parts[1], parts[0]}, {{"axis", axis}}));
  }
  void reduce(ValueId v) {
    if (rank(v) == 0) return;
    const Ints axes{pick(rank(v))};
    const ValueId kept = build_(one_of<std::string_view>({"ReduceSum", "ReduceMean"}), {v, build_.ints(axes)}, {{"keepdims", int64_t{1}}});
    keep(kept);
    if (kept && pick(2)) keep(build_("Squeeze", {kept, build_.ints(axes)}));
  }

  std::mt19937 random_;
  std::unique_ptr<ir::Graph> graph_;
  ir::Builder build_;
  std::vector<ValueId> values_;
};

/// Sizes 0 to 3.
inline std::vector<Tensor> inputs_of(const ir::Graph& graph, std::mt19937& random) {
  const int64_t b = static_cast<int64_t>(random() % 4), s = static_cast<int64_t>(random() % 4);
  std::vector<Tensor> inputs;
  for (ir::ValueId id : graph.inputs()) {
    Sizes shape;
    for (Dim d : *graph.value(id).type.shape) shape.push_back(d.is_number() ? d.value() : d.text() == "b" ? b : s);
    inputs.push_back(draw(DType::f32, shape, random));
  }
  return inputs;
}

/// But for rounding, f16 included.
inline void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  if (a.holds_tensors()) {
    for (size_t k = 0; k < a.elements().size(); ++k) expect_close(a.elements()[k], b.elements()[k]);
    return;
  }
  double scale = 1;
  for (int64_t k = 0; k < a.count(); ++k)
    if (std::isfinite(a.number(k))) scale = std::max(scale, std::abs(a.number(k)));
  for (int64_t k = 0; k < a.count(); ++k) {
    const double x = a.number(k), y = b.number(k);
    if (x == y || (std::isnan(x) && std::isnan(y)) || (std::isinf(x) && std::abs(y) > 6e4)) continue;
    ASSERT_NEAR(x, y, 2e-2 * scale) << "element " << k;
  }
}

}  // namespace tenon::tests
