// SPDX-License-Identifier: Apache-2.0
#include "ops/control/scan_as_loop.h"

#include <limits>
#include <numeric>
#include <unordered_map>

#include "ops/definition/body_builder.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/types.h"

namespace tenon::ops {

using ir::Ints;
using ir::ValueId;

namespace {

using Renamed = std::unordered_map<ValueId, ValueId>;

std::vector<ValueId> renamed(const std::vector<ValueId>& values, const Renamed& names) {
  std::vector<ValueId> out;
  for (ValueId v : values) out.push_back(v ? names.at(v) : ValueId{});
  return out;
}

/// Copies constants and nodes of a body whose inputs are mapped already.
void copy_nodes(const ir::Graph& from, ir::Graph& to, Renamed& names) {
  for (ValueId v : from.values())
    if (const ir::Value& value = from.value(v); value.is_constant()) names[v] = to.add_constant(value.constant, value.name);
  for (ir::NodeId n : from.nodes()) {
    const ir::Node& node = from.node(n);
    const std::vector<ValueId> operands = renamed(node.inputs, names);
    const std::vector<ValueId> direct(operands.begin(), operands.begin() + node.explicit_inputs);
    const ir::NodeId made = to.insert(*node.op, direct, node.outputs.size(), node.attributes);
    for (const ir::Body& b : node.bodies) {
      const auto first = operands.begin() + b.first_capture;
      to.attach_body(made, b.name, b.graph->clone_body(to), std::vector<ValueId>(first, first + b.captures));
    }
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.outputs[k]) continue;
      names[node.outputs[k]] = to.node(made).outputs[k];
      to.set_type(to.node(made).outputs[k], from.value(node.outputs[k]).type);
      to.set_data(to.node(made).outputs[k], from.value(node.outputs[k]).data);
    }
  }
}

class Scan {
 public:
  Scan(ir::Builder& build, const NodeView& view, std::span<const ValueId> in)
      : build_(build), view_(view), in_(in), old_(*view.bodies[0]), body_(build) {
    sequences_ = static_cast<size_t>(view.attributes->integer("num_scan_inputs", 0));
    states_ = view.explicit_inputs - sequences_;
    rows_ = old_.outputs().size() - states_;
  }

  std::vector<ValueId> run() {
    for (size_t k = 0; k < rows_; ++k)
      if (!old_.value(old_.outputs()[states_ + k]).type.has_rank()) return {};
    for (size_t k = 0; k < sequences_; ++k)
      if (view_.rank(states_ + k) < 1) return {};
    length_ = size_of(build_, in_[states_], axis_of_sequence(0));
    if (!build_.status()) return {};
    fill_body();
    if (!body_.build.status()) return {};
    std::vector<ValueId> operands{length_, ValueId{}};
    operands.insert(operands.end(), in_.begin(), in_.begin() + static_cast<ptrdiff_t>(states_));
    std::vector<ValueId> results = build_.with_body("Loop", operands, states_ + rows_, std::move(body_.graph), body_.captured);
    for (size_t k = 0; k < rows_ && build_.status(); ++k) results[states_ + k] = placed(results[states_ + k], k);
    return results;
  }

 private:
  int64_t number(const char* list, size_t k) const {
    const Ints values = view_.attributes->ints(list, {});
    return k < values.size() ? values[k] : 0;
  }
  int64_t axis_of_sequence(size_t k) const {
    const int64_t axis = number("scan_input_axes", k);
    return axis < 0 ? axis + view_.rank(states_ + k) : axis;
  }

  void fill_body() {
    ir::Graph& graph = *body_.graph;
    const ValueId step = body_.input("step", ir::Type(DType::i64, {})), go = body_.input("go", ir::Type(DType::boolean, {}));
    Renamed names;
    const auto inputs = old_.inputs();
    for (size_t k = 0; k < states_; ++k) {
      const ir::Value& value = old_.value(inputs[k]);
      names[inputs[k]] = body_.input(value.name, value.type);
    }
    ValueId back;
    for (size_t k = 0; k < sequences_; ++k) {
      ValueId at = step;
      if (number("scan_input_directions", k) != 0) {
        if (!back) back = body_.build("Sub", {body_.build("Sub", {body_.capture(length_), one()}), step});
        at = back;
      }
      names[inputs[states_ + k]] = body_.build("Gather", {body_.capture(in_[states_ + k]), at}, {{"axis", axis_of_sequence(k)}});
    }
    for (size_t k = states_ + sequences_; k < inputs.size(); ++k) names[inputs[k]] = body_.capture(in_[k]);
    if (!body_.build.status()) return;
    copy_nodes(old_, graph, names);
    graph.add_output(go);
    for (ValueId v : old_.outputs()) graph.add_output(names.at(v));
  }

  ValueId one() { return body_.build.scalar(DType::i64, 1); }

  /// Brings a result that is stacked along axis 0 in the order of the steps to the requested axis and order.
  ValueId placed(ValueId stack, size_t k) {
    if (number("scan_output_directions", k) != 0)
      stack = build_("Slice",
                     {stack, build_.ints({-1}), build_.ints({std::numeric_limits<int64_t>::min()}), build_.ints({0}), build_.ints({-1})});
    const int64_t rank = old_.value(old_.outputs()[states_ + k]).type.rank() + 1;
    int64_t axis = number("scan_output_axes", k);
    if (axis < 0) axis += rank;
    if (axis == 0) return stack;
    Ints order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.begin() + axis, 1);
    order[static_cast<size_t>(axis)] = 0;
    std::iota(order.begin() + axis + 1, order.end(), axis + 1);
    return transposed(build_, stack, order);
  }

  ir::Builder& build_;
  const NodeView& view_;
  std::span<const ValueId> in_;
  const ir::Graph& old_;
  BodyBuilder body_;
  size_t sequences_ = 0, states_ = 0, rows_ = 0;
  ValueId length_;
};

}  // namespace

std::vector<ValueId> scan_as_loop(ir::Builder& build, const NodeView& view, std::span<const ValueId> inputs) {
  return Scan(build, view, inputs).run();
}

}  // namespace tenon::ops
