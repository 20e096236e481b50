// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/definition.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::ops {

using ir::Ints;
using ir::ValueId;

namespace {
ir::ConstantRef constant_in(ir::Builder& build, ValueId x) { return x ? build.graph().value(x).constant : nullptr; }
}  // namespace

ValueId part_of(ir::Builder& build, ValueId x, int axis, int64_t begin, int64_t end) {
  const auto c = constant_in(build, x);
  const int64_t size = c && axis < static_cast<int>(c->shape.size()) ? c->shape[static_cast<size_t>(axis)] : -1;
  if (begin >= 0 && begin <= end && end <= size) return build.constant(ir::slice(c, axis, begin, end));
  return build("Slice", {x, build.ints({begin}), build.ints({end}), build.ints({axis})});
}

ValueId without_axis(ir::Builder& build, ValueId x, int axis) {
  if (const auto c = constant_in(build, x); c && axis < static_cast<int>(c->shape.size()) && c->shape[static_cast<size_t>(axis)] == 1) {
    Sizes shape = c->shape;
    shape.erase(shape.begin() + axis);
    return build.constant(ir::reshape(c, std::move(shape)));
  }
  return build("Squeeze", {x, build.ints({axis})});
}

ValueId transposed(ir::Builder& build, ValueId x, Ints order) {
  if (const auto c = constant_in(build, x)) return build.constant(ir::permute(c, std::vector<int>(order.begin(), order.end())));
  return build("Transpose", {x}, {{"perm", std::move(order)}});
}

ValueId sizes_of(ir::Builder& build, ValueId x, int64_t begin, int64_t end) {
  return build("Shape", {x}, {{"start", begin}, {"end", end}});
}

ValueId size_of(ir::Builder& build, ValueId x, int64_t axis) {
  return build("Squeeze", {sizes_of(build, x, axis, axis + 1), build.ints({0})});
}

ValueId counting(ir::Builder& build, ValueId end) {
  return build("Range", {build.scalar(DType::i64, 0), end, build.scalar(DType::i64, 1)});
}

ValueId number_like(ir::Builder& build, ValueId like, double value) {
  return like ? build.scalar(build.graph().value(like).type.dtype, value) : ValueId{};
}

ValueId cast_to(ir::Builder& build, ValueId x, DType dtype) {
  if (!x || build.graph().value(x).type.dtype == dtype) return x;
  const auto c = constant_in(build, x);
  if (c && is_real_arithmetic(c->dtype) && is_real_arithmetic(dtype)) return build.constant(ir::cast(c, dtype));
  return build("Cast", {x}, {{"to", static_cast<int64_t>(dtype)}});
}

ValueId complex_product(ir::Builder& build, ValueId a, ValueId b, bool conjugate) {
  const auto part = [&](ValueId x, int64_t which) { return build("Gather", {x, build.ints({which})}, {{"axis", int64_t{-1}}}); };
  const ValueId ar = part(a, 0), ai = part(a, 1), br = part(b, 0), bi = part(b, 1);
  const auto times = [&](ValueId x, ValueId y) { return build("Mul", {x, y}); };
  const ValueId real = build(conjugate ? "Add" : "Sub", {times(ar, br), times(ai, bi)});
  const ValueId imaginary = conjugate ? build("Sub", {times(ai, br), times(ar, bi)}) : build("Add", {times(ar, bi), times(ai, br)});
  return build("Concat", {real, imaginary}, {{"axis", int64_t{-1}}});
}

std::vector<ValueId> inlined(ir::Builder& build, const ir::Graph& body, std::span<const ValueId> arguments) {
  std::unordered_map<ValueId, ValueId> outside;
  for (size_t k = 0; k < body.inputs().size(); ++k) outside[body.inputs()[k]] = arguments[k];
  auto mapped = [&](ValueId v) {
    if (v && body.value(v).is_constant() && !outside.contains(v)) outside[v] = build.constant(body.value(v).constant);
    return v ? outside.at(v) : v;
  };
  for (ir::NodeId n : body.nodes()) {
    const ir::Node& node = body.node(n);
    if (!node.bodies.empty()) return {};
    std::vector<ValueId> inputs;
    for (ValueId v : node.inputs) inputs.push_back(mapped(v));
    const std::string name = node.op->domain.empty() ? node.op->name : node.op->domain + "::" + node.op->name;
    const std::vector<ValueId> results =
        build.many(name, std::move(inputs), node.outputs.size(), {node.attributes.begin(), node.attributes.end()});
    for (size_t k = 0; k < node.outputs.size(); ++k)
      if (node.outputs[k]) outside[node.outputs[k]] = results[k];
  }
  std::vector<ValueId> out;
  for (ValueId v : body.outputs()) out.push_back(mapped(v));
  return out;
}

ValueId BodyBuilder::capture(ValueId outside) {
  if (!outside) return {};
  const auto at = std::find(captured.begin(), captured.end(), outside);
  if (at != captured.end()) return inside[static_cast<size_t>(at - captured.begin())];
  const ir::Value& value = outer.graph().value(outside);
  if (value.constant) return build.constant(value.constant);
  captured.push_back(outside);
  inside.push_back(graph->add_input(value.name, value.type));
  graph->set_data(inside.back(), value.data);
  return inside.back();
}

}  // namespace tenon::ops
