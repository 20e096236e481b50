// SPDX-License-Identifier: Apache-2.0
// What random graphs are made of, and their views of all kinds.
#include <algorithm>
#include <numeric>

#include "ops/core/op.h"
#include "random_plan_graph.h"

namespace tenon::codegen {

RandomPlanGraph::RandomPlanGraph(uint64_t seed) : random_(seed), graph_(std::make_unique<ir::Graph>(ops::table())) {
  for (const char* name : {"n", "m"}) symbols_.push_back(graph_->symbols().symbol(name, 1, 64));
  graph_->add_input("sizes", ir::Type(DType::f32, symbols_));  // tells both, whatever else there is
}

std::unique_ptr<ir::Graph> RandomPlanGraph::make() {
  const size_t outputs = 1 + pick(2);
  for (size_t k = 0; k < outputs; ++k) graph_->add_output(make(some_shape(), 3 + static_cast<int>(pick(3))));
  return std::move(graph_);
}

DimList RandomPlanGraph::some_shape() {
  DimList shape;
  for (size_t rank = 1 + pick(4); rank-- > 0;) shape.push_back(some_dim());
  return shape;
}

ir::Attributes RandomPlanGraph::with(std::string_view name, ir::Attribute value, ir::Attributes a) {
  a.set(std::string(name), std::move(value));
  return a;
}

ValueId RandomPlanGraph::add(std::string_view op, std::vector<ValueId> operands, const DimList* wanted, ir::Attributes attributes) {
  for (ValueId v : operands)
    if (!v) return {};
  const ir::NodeId node = graph_->insert(*ops::table().find("", op), std::move(operands), 1, std::move(attributes));
  const ValueId v = graph_->node(node).outputs[0];
  if (ir::infer(*graph_, node) && graph_->value(v).type.has_rank() && (!wanted || *graph_->value(v).type.shape == *wanted)) return v;
  graph_->erase(node);
  return {};
}

ValueId RandomPlanGraph::ints(const std::vector<int64_t>& data) {
  return graph_->add_constant(ir::constant_of(Tensor::of_i64({static_cast<int64_t>(data.size())}, data)), name("i"));
}

ValueId RandomPlanGraph::numbers(const DimList& shape) {
  Sizes sizes;
  for (Dim d : shape) sizes.push_back(d.value());
  Tensor t = *Tensor::make(DType::f32, sizes);
  for (int64_t i = 0; i < t.count(); ++i) t.set_number(i, static_cast<double>(from_to(-3, 3)));
  return graph_->add_constant(ir::constant_of(std::move(t)), name("c"));
}

ValueId RandomPlanGraph::leaf(const DimList& shape) {
  const bool known = std::ranges::all_of(shape, [](Dim d) { return d.is_number(); });
  if (known && pick(3) == 0) return numbers(shape);
  return graph_->add_input(name("x"), ir::Type(DType::f32, shape));
}

ValueId RandomPlanGraph::make(const DimList& shape, int depth) {
  if (pick(6) == 0)
    for (ValueId v : made_)
      if (*graph_->value(v).type.shape == shape && pick(2) == 0) return v;
  if (depth <= 0 || most(shape) > 6000) return leaf(shape);
  for (int tries = 0; tries < 6; ++tries)
    if (const ValueId v = some_op(shape, depth - 1)) {
      made_.push_back(v);
      return v;
    }
  return leaf(shape);
}

ValueId RandomPlanGraph::some_op(const DimList& shape, int depth) {
  switch (pick(24)) {
    case 0: return transposed(shape, depth);
    case 1: return sliced(shape, depth);
    case 2: return padded(shape, depth);
    case 3: return expanded(shape, depth);
    case 4:
    case 5: return reshaped(shape, depth);
    case 6: return joined(shape, depth);
    case 7:
    case 8: return gathered(shape, depth);
    case 9:
    case 10: return mapped(shape, depth);
    case 11:
    case 12:
    case 13: return combined(shape, depth);
    case 14: return product(shape, depth);
    case 15:
    case 16: return einsum(shape, depth);
    case 17:
    case 18: return convolved(shape, depth);
    case 19: return row(shape, depth);
    case 20: return reduced(shape, depth);
    case 21: return attended(shape, depth);
    case 22: return pooled(shape, depth);
    default: return rearranged(shape, depth);
  }
}

ValueId RandomPlanGraph::transposed(const DimList& shape, int depth) {
  std::vector<int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random_);
  DimList before(shape.size());
  for (size_t k = 0; k < order.size(); ++k) before[static_cast<size_t>(order[k])] = shape[k];
  return add("Transpose", {make(before, depth)}, &shape, with("perm", ir::Ints(order)));
}

int RandomPlanGraph::known_dimension(const DimList& shape) {
  std::vector<int> known;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d].is_number()) known.push_back(static_cast<int>(d));
  return known.empty() ? -1 : known[pick(known.size())];
}

ValueId RandomPlanGraph::sliced(const DimList& shape, int depth) {
  if (shape.empty()) return {};
  const int axis = static_cast<int>(pick(shape.size()));
  DimList before = shape;
  Dim& size = before[static_cast<size_t>(axis)];
  const int64_t skip = from_to(0, 3);
  if (!size.is_number()) {  // the tail of what is longer by a number
    size = size + skip;
    return add("Slice", {make(before, depth), ints({skip}), ints({int64_t{1} << 40}), ints({axis})}, &shape);
  }
  const int64_t wanted = size.value(), step = from_to(1, 3), whole = skip + (wanted - 1) * step + 1 + from_to(0, 2);
  size = whole;
  if (pick(4) == 0) {
    const int64_t first = skip + (wanted - 1) * step, last = skip - 1;
    return add("Slice", {make(before, depth), ints({first}), ints({last < 0 ? -whole - 1 : last}), ints({axis}), ints({-step})}, &shape);
  }
  return add("Slice", {make(before, depth), ints({skip}), ints({skip + (wanted - 1) * step + 1}), ints({axis}), ints({step})}, &shape);
}

ValueId RandomPlanGraph::padded(const DimList& shape, int depth) {
  DimList before = shape;
  std::vector<int64_t> pads(shape.size() * 2, 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!shape[d].is_number() || pick(2) == 0) continue;
    const int64_t room = shape[d].value() - 1, begin = from_to(0, std::min<int64_t>(room, 2)),
                  end = from_to(0, std::min<int64_t>(room - begin, 2));
    pads[d] = begin, pads[d + shape.size()] = end;
    before[d] = shape[d].value() - begin - end;
  }
  static constexpr const char* kModes[] = {"constant", "constant", "edge", "wrap"};
  std::vector<ValueId> operands{make(before, depth), ints(pads)};
  if (pick(2) == 0) operands.push_back(number(2));
  return add("Pad", operands, &shape, with("mode", std::string(kModes[pick(4)])));
}

ValueId RandomPlanGraph::expanded(const DimList& shape, int depth) {
  DimList before = shape;
  std::vector<int64_t> to;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool grows = shape[d].is_number() && pick(2) == 0;
    if (grows) before[d] = 1;
    to.push_back(grows ? shape[d].value() : 1);
  }
  return add("Expand", {make(before, depth), ints(to)}, &shape);
}

ValueId RandomPlanGraph::reshaped(const DimList& shape, int depth) {
  DimList before = shape;
  std::vector<int64_t> to;
  for (Dim d : shape) to.push_back(d.number().value_or(-1));
  const size_t at = shape.empty() ? 0 : pick(shape.size());
  const size_t kind = pick(3);
  if (kind == 0) {
    before.insert(before.begin() + static_cast<ptrdiff_t>(at), Dim(1));
  } else if (kind == 1 && at + 1 < shape.size()) {
    before[at] = before[at] * before[at + 1];
    before.erase(before.begin() + static_cast<ptrdiff_t>(at) + 1);
  } else if (at < shape.size() && shape[at].is_number()) {
    std::vector<int64_t> parts;
    for (int64_t p = 1; p <= shape[at].value(); ++p)
      if (shape[at].value() % p == 0) parts.push_back(p);
    const int64_t part = parts[pick(parts.size())];
    before[at] = shape[at].value() / part;
    before.insert(before.begin() + static_cast<ptrdiff_t>(at) + 1, Dim(part));
  }
  if (before.size() > 5 || std::ranges::count(to, -1) > 1) return {};
  return add("Reshape", {make(before, depth), ints(to)}, &shape);
}

ValueId RandomPlanGraph::joined(const DimList& shape, int depth) {
  const int axis = known_dimension(shape);
  if (axis < 0 || shape[static_cast<size_t>(axis)].value() < 2) return {};
  DimList first = shape, second = shape;
  const int64_t size = shape[static_cast<size_t>(axis)].value(), cut = from_to(1, size - 1);
  first[static_cast<size_t>(axis)] = cut;
  second[static_cast<size_t>(axis)] = size - cut;
  return add("Concat", {make(first, depth), make(second, depth)}, &shape, with("axis", int64_t{axis}));
}

ValueId RandomPlanGraph::gathered(const DimList& shape, int depth) {
  if (shape.empty()) return {};
  const size_t rank = 1 + pick(std::min<size_t>(2, shape.size())), axis = pick(shape.size() - rank + 1);
  DimList before = shape, index(shape.begin() + static_cast<ptrdiff_t>(axis), shape.begin() + static_cast<ptrdiff_t>(axis + rank));
  before.erase(before.begin() + static_cast<ptrdiff_t>(axis), before.begin() + static_cast<ptrdiff_t>(axis + rank));
  before.insert(before.begin() + static_cast<ptrdiff_t>(axis), Dim(5));  // inputs of indices hold -5 to 4
  const bool known = std::ranges::all_of(index, [](Dim d) { return d.is_number(); });
  ValueId at;
  if (pick(3) == 0) {
    at = distances(index);
  } else if (known && pick(2) == 0) {
    Sizes sizes;
    for (Dim d : index) sizes.push_back(d.value());
    Tensor t = *Tensor::make(DType::i64, sizes);
    for (int64_t i = 0; i < t.count(); ++i) t.set_integer(i, from_to(-5, 4));
    at = graph_->add_constant(ir::constant_of(std::move(t)), name("i"));
  } else {
    at = graph_->add_input(name("i"), ir::Type(DType::i64, index));
  }
  return add("Gather", {make(before, depth), at}, &shape, with("axis", static_cast<int64_t>(axis)));
}

}  // namespace tenon::codegen
