// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ir/builder.h"
#include "ops/core/op.h"

namespace tenon::bench {

using ir::ValueId;

namespace {

constexpr int64_t kHidden = 256, kHeads = 8, kLayerNodes = 25;

/// Appends layers to a graph; values and nodes are named as in a file.
class Maker {
 public:
  explicit Maker(int64_t layers) : graph_(std::make_unique<ir::Graph>(ops::table())) {
    weights_ = std::make_shared<std::vector<float>>(static_cast<size_t>(kHidden * (kHidden + layers)));
    for (size_t i = 0; i < weights_->size(); ++i)
      (*weights_)[i] = 1e-3f * static_cast<float>(i % 1009) + 1e-6f * static_cast<float>(i % 1013);
    Symbols& s = graph_->symbols();
    x_ = graph_->add_input("x", ir::Type(DType::f32, {s.symbol("batch", 1), s.symbol("seq", 1), kHidden}));
  }

  void layer_m() {
    const ValueId residual = x_;
    const ValueId centred = node("Sub", {x_, node("ReduceMean", {x_, ints({-1})})});
    const ValueId variance = node("ReduceMean", {node("Pow", {centred, number(2)}), ints({-1})});
    const ValueId normal = node("Div", {centred, node("Sqrt", {node("Add", {variance, number(1e-5)})})});
    x_ = node("Add", {node("Mul", {normal, weight({kHidden})}), weight({kHidden})});
    x_ = node("Add", {node("MatMul", {x_, weight({kHidden, kHidden})}), weight({kHidden})});
    x_ = node("Reshape", {x_, ints({0, 0, kHeads, kHidden / kHeads})});
    for (int i = 0; i < 2; ++i) x_ = node("Transpose", {x_}, {{"perm", ir::Ints{0, 2, 1, 3}}});
    x_ = node("Identity", {node("Cast", {node("Reshape", {x_, ints({0, 0, kHidden})})}, {{"to", int64_t{1}}})});
    x_ = node("Squeeze", {node("Unsqueeze", {x_, ints({1})}), ints({1})});
    const ValueId gate = node("Add", {node("Erf", {node("Div", {x_, number(1.4142135)})}), number(1)});
    x_ = node("Add", {node("Mul", {node("Mul", {x_, gate}), number(0.5)}), residual});
    ++layer_;
  }

  void layer_n() {
    for (int i = 0; i < 5; ++i) {
      const ValueId wave = node("Sin", {node("MatMul", {x_, weight({kHidden, kHidden})})});
      x_ = node("Tanh", {node("Sub", {node("Cos", {wave}), x_})});
    }
    ++layer_;
  }

  std::unique_ptr<ir::Graph> finish() {
    graph_->add_output(node("Relu", {x_}), "y");
    return std::move(graph_);
  }

 private:
  ValueId node(std::string_view op, std::vector<ValueId> inputs, std::vector<std::pair<std::string, ir::Attribute>> attributes = {}) {
    ir::Builder build(*graph_);
    const ValueId out = build(op, std::move(inputs), std::move(attributes));
    TENON_ASSERT(build.status());
    const std::string name = fmt::format("/model/layer.{}/{}_{}", layer_, op, graph_->node_count());
    graph_->set_name(graph_->value(out).producer, name);
    graph_->set_name(out, name + "_output_0");
    return out;
  }
  ValueId constant(Tensor tensor) {
    return graph_->add_constant(ir::constant_of(std::move(tensor)), fmt::format("/model/layer.{}/constant_{}", layer_, constants_++));
  }
  ValueId ints(ir::Ints values) { return constant(Tensor::of_i64({static_cast<int64_t>(values.size())}, values)); }
  ValueId number(double value) { return constant(Tensor::scalar(DType::f32, value)); }
  /// Weights of different layers differ.
  ValueId weight(Sizes shape) {
    return constant(Tensor::view(DType::f32, std::move(shape), weights_->data() + layer_ * kHidden, weights_));
  }

  std::unique_ptr<ir::Graph> graph_;
  std::shared_ptr<std::vector<float>> weights_;
  ValueId x_;
  int64_t layer_ = 0, constants_ = 0;
};

}  // namespace

std::unique_ptr<ir::Graph> make_model(char model, int64_t nodes) {
  const int64_t layers = std::max<int64_t>(1, (nodes - 1) / kLayerNodes);
  Maker maker(layers);
  for (int64_t k = 0; k < layers; ++k) model == 'M' ? maker.layer_m() : maker.layer_n();
  return maker.finish();
}

}  // namespace tenon::bench
