// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"

namespace tenon::tests {

/// Grows a graph over values of rank 1 to 4 whose first dimension is often the symbol "batch". Values stay of modest size: what
/// multiplies is brought back by Tanh or a mean.
class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed), graph_(std::make_unique<ir::Graph>(ops::table())) {
    batch_ = graph_->symbols().symbol("batch", 1, 64);
    const size_t inputs = 1 + pick(3);
    for (size_t k = 0; k < inputs; ++k) values_.push_back(graph_->add_input("x" + std::to_string(k), ir::Type(DType::f32, some_shape())));
  }

  std::unique_ptr<ir::Graph> grow(size_t nodes) {
    while (made_ < nodes) step();
    for (size_t k = 0; k < 3 && k < values_.size(); ++k) graph_->add_output(values_[values_.size() - 1 - k]);
    return std::move(graph_);
  }

 private:
  using ValueId = ir::ValueId;
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  DimList some_shape() {
    DimList shape;
    const size_t rank = 1 + pick(4);
    for (size_t k = 0; k < rank; ++k)
      shape.push_back(k == 0 && pick(2) == 0 ? batch_ : Dim(static_cast<int64_t>(1 + pick(pick(4) == 0 ? 37 : 6))));
    return shape;
  }
  const DimList& shape(ValueId v) const { return *graph_->value(v).type.shape; }
  int rank(ValueId v) const { return static_cast<int>(shape(v).size()); }
  ValueId some() { return values_[values_.size() - 1 - pick(std::min<size_t>(values_.size(), 6))]; }

  ValueId add(std::string_view op, std::vector<ValueId> operands, ir::Attributes attributes = {}) {
    const ir::NodeId node = graph_->insert(*ops::table().find("", op), std::move(operands), 1, std::move(attributes));
    if (auto done = ir::infer(*graph_, node); !done) {
      graph_->erase(node);
      return {};
    }
    const ValueId v = graph_->node(node).outputs[0];
    const ir::Type& type = graph_->value(v).type;
    // Sizes that grow without end would only make the test slow.
    const Dim count = type.count();
    if (count.is_number() ? count.value() > 100000 : count.upper() > 1000000) {
      graph_->erase(node);
      return {};
    }
    values_.push_back(v);
    ++made_;
    return v;
  }
  ValueId ints(std::vector<int64_t> data) {
    const int64_t n = static_cast<int64_t>(data.size());
    return graph_->add_constant(ir::constant_of(Tensor::of_i64({n}, data)), "c" + std::to_string(names_++));
  }
  ValueId floats(const DimList& dims) {
    Sizes sizes;
    for (Dim d : dims) sizes.push_back(d.is_number() ? d.value() : 1);
    return graph_->add_constant(ir::constant_of(*ops::random_tensor(DType::f32, sizes, random_())), "c" + std::to_string(names_++));
  }
  static ir::Attributes with(std::string_view name, ir::Attribute value) {
    ir::Attributes a;
    a.set(std::string(name), std::move(value));
    return a;
  }
  int64_t axis_of(ValueId v) { return static_cast<int64_t>(pick(static_cast<size_t>(rank(v)))); }

  void step() {
    static constexpr const char* kUnary[] = {"Relu", "Tanh", "Sigmoid", "Abs", "Neg", "Erf", "Gelu", "Softplus", "Cos"};
    static constexpr const char* kBinary[] = {"Add", "Sub", "Mul", "Max", "Min"};
    const ValueId v = some();
    switch (pick(13)) {
      case 0:
      case 1: add(kUnary[pick(std::size(kUnary))], {v}); break;
      case 2:
      case 3: binary(kBinary[pick(std::size(kBinary))], v); break;
      case 4: transpose(v); break;
      case 5: reshape(v); break;
      case 6: reduce(v); break;
      case 7: matmul(v); break;
      case 8: add(pick(2) ? "Softmax" : "LogSoftmax", {v}, with("axis", axis_of(v))); break;
      case 9: concat(v); break;
      case 10: slice(v); break;
      case 11: gather(v); break;
      default: normalise(v); break;
    }
  }

  /// With another value, a row of constants, or a value of the same shape reduced along an axis: all kinds of broadcast.
  void binary(const char* op, ValueId v) {
    ValueId other = some();
    if (pick(3) == 0) other = floats({shape(v).back()});
    if (std::string_view(op) == "Mul") other = add("Tanh", {other});
    if (other && meet(v, other)) add(op, pick(2) ? std::vector<ValueId>{v, other} : std::vector<ValueId>{other, v});
  }
  /// Whatever "batch" is: a symbol beside another number is legal, and wrong for most batches.
  bool meet(ValueId a, ValueId b) const {
    for (int k = 1; k <= std::min(rank(a), rank(b)); ++k) {
      const Dim x = shape(a)[shape(a).size() - static_cast<size_t>(k)], y = shape(b)[shape(b).size() - static_cast<size_t>(k)];
      if (!(x == y) && !(x == Dim(1)) && !(y == Dim(1))) return false;
    }
    return true;
  }
  void transpose(ValueId v) {
    std::vector<int64_t> order;
    for (int k = 0; k < rank(v); ++k) order.push_back(k);
    std::shuffle(order.begin(), order.end(), random_);
    add("Transpose", {v}, with("perm", ir::Ints(order)));
  }
  void reshape(ValueId v) {
    const int r = rank(v);
    if (r == 1) {
      add("Unsqueeze", {v, ints({static_cast<int64_t>(pick(2))})});
    } else if (pick(2) == 0) {
      add("Flatten", {v}, with("axis", axis_of(v)));
    } else {
      std::vector<int64_t> to(static_cast<size_t>(r), 0);  // 0 keeps a dimension; the last two become one
      to.pop_back();
      to.back() = -1;
      add("Reshape", {v, ints(to)});
    }
  }
  void reduce(ValueId v) {
    static constexpr const char* kOps[] = {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum"};
    const char* op = kOps[pick(std::size(kOps))];
    const bool keep = rank(v) < 2 || pick(2) == 0;
    const ValueId made = add(op, {v, ints({axis_of(v)})}, with("keepdims", int64_t{keep}));
    if (made && std::string_view(op) == "ReduceSum") add("Tanh", {made});
  }
  void matmul(ValueId v) {
    const Dim depth = shape(v).back();
    if (!depth.is_number() || rank(v) < 2) return;
    const ValueId product = add("MatMul", {v, floats({depth, Dim(static_cast<int64_t>(1 + pick(40)))})});
    if (product) add("Tanh", {product});
  }
  void concat(ValueId v) {
    const int64_t axis = axis_of(v);
    ValueId other = v;
    for (int tries = 0; tries < 4; ++tries) {
      const ValueId w = some();
      bool fits = rank(w) == rank(v);
      for (int k = 0; fits && k < rank(v); ++k) fits = k == axis || shape(w)[static_cast<size_t>(k)] == shape(v)[static_cast<size_t>(k)];
      if (fits) other = w;
    }
    add("Concat", {v, other}, with("axis", axis));
  }
  void slice(ValueId v) {
    const int64_t axis = axis_of(v);
    const Dim size = shape(v)[static_cast<size_t>(axis)];
    if (!size.is_number() || size.value() < 2) return;
    const int64_t begin = static_cast<int64_t>(pick(static_cast<size_t>(size.value() - 1)));
    const bool back = pick(4) == 0;
    if (back) add("Slice", {v, ints({-1}), ints({-size.value() - 1}), ints({axis}), ints({-1})});
    else add("Slice", {v, ints({begin}), ints({size.value()}), ints({axis}), ints({static_cast<int64_t>(1 + pick(2))})});
  }
  void gather(ValueId v) {
    const int64_t axis = axis_of(v);
    const Dim size = shape(v)[static_cast<size_t>(axis)];
    if (!size.is_number()) return;
    std::vector<int64_t> at;
    for (size_t k = 0; k < 1 + pick(5); ++k)
      at.push_back(static_cast<int64_t>(pick(static_cast<size_t>(size.value()))) - (pick(2) ? size.value() : 0));
    add("Gather", {v, ints(at)}, with("axis", axis));
  }
  void normalise(ValueId v) {
    const Dim last = shape(v).back();
    if (last.is_number() && last.value() > 1) add("LayerNormalization", {v, floats({last}), floats({last})}, with("axis", int64_t{-1}));
  }

  std::mt19937_64 random_;
  std::unique_ptr<ir::Graph> graph_;
  Dim batch_;
  std::vector<ValueId> values_;
  size_t made_ = 0, names_ = 0;
};

/// With `batch` for the symbol.
inline std::vector<Tensor> random_inputs(const ir::Graph& graph, int64_t batch, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (ir::ValueId v : graph.inputs()) {
    Sizes sizes;
    for (Dim d : *graph.value(v).type.shape) sizes.push_back(d.is_number() ? d.value() : batch);
    inputs.push_back(*ops::random_tensor(DType::f32, sizes, seed++));
  }
  return inputs;
}

}  // namespace tenon::tests
