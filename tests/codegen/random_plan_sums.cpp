// SPDX-License-Identifier: Apache-2.0
// Maps, products, sums and rows of random graphs.
#include <algorithm>
#include <numeric>

#include "ops/core/op.h"
#include "random_plan_graph.h"

namespace tenon::codegen {

ValueId RandomPlanGraph::counted(Dim size) {
  ValueId count = integer(size.number().value_or(0));
  if (!size.is_number()) count = add("Squeeze", {add("Shape", {leaf({size})}, nullptr)}, nullptr);
  return add("Range", {integer(0), count, integer(1)}, nullptr);
}

ValueId RandomPlanGraph::distances(const DimList& index) {
  ValueId at = counted(index[0]);
  if (index.size() == 2)
    at = add("Sub", {add("Unsqueeze", {at, ints({1})}, nullptr), add("Unsqueeze", {counted(index[1]), ints({0})}, nullptr)}, nullptr);
  return add("Clip", {at, integer(-5), integer(4)}, &index);
}

ValueId RandomPlanGraph::mapped(const DimList& shape, int depth) {
  static constexpr const char* kOps[] = {"Relu", "Abs", "Neg", "Tanh", "Sigmoid", "Cos"};
  return add(kOps[pick(std::size(kOps))], {make(shape, depth)}, &shape);
}

ValueId RandomPlanGraph::combined(const DimList& shape, int depth) {
  static constexpr const char* kOps[] = {"Add", "Sub", "Max", "Min", "Add", "Mul"};
  DimList other = shape;
  for (Dim& d : other)
    if (pick(3) == 0) d = 1;
  while (!other.empty() && pick(4) == 0) other.erase(other.begin());
  std::vector<ValueId> operands{make(shape, depth), make(other, depth - 1)};
  if (pick(2) == 0) std::swap(operands[0], operands[1]);
  const size_t op = pick(std::size(kOps));
  if (op == 5) operands[0] = clipped(operands[0]);
  return add(kOps[op], operands, &shape);
}

ValueId RandomPlanGraph::product(const DimList& shape, int depth) {
  if (shape.size() < 2) return {};
  const Dim inner = some_dim();
  DimList a(shape.begin(), shape.end() - 2), b = a;
  for (DimList* list : {&a, &b}) {
    for (Dim& d : *list)
      if (pick(5) == 0 && d.is_number()) d = 1;
    while (!list->empty() && pick(3) == 0) list->erase(list->begin());
  }
  a.insert(a.end(), {shape[shape.size() - 2], inner});
  b.insert(b.end(), {inner, shape.back()});
  ValueId rows = small(make(a, depth));
  if (rows && pick(5) == 0) rows = add("Mul", {clipped(rows), leaf({inner})}, &a);
  return multiplied(rows, small(make(b, depth)), shape);
}

ValueId RandomPlanGraph::shortened(ValueId v, DType dtype) {
  if (v && dtype == DType::u8) v = add("Abs", {v}, nullptr);
  return cast(v ? add("Round", {clipped(v)}, nullptr) : v, dtype);
}

ValueId RandomPlanGraph::cast(ValueId v, DType dtype) { return add("Cast", {v}, nullptr, with("to", static_cast<int64_t>(dtype))); }

ValueId RandomPlanGraph::multiplied(ValueId a, ValueId b, const DimList& shape) {
  switch (pick(6)) {
    case 0: return cast(add("MatMulInteger", {shortened(a, DType::u8), shortened(b, DType::i8)}, &shape), DType::f32);
    case 1: return cast(add("MatMul", {shortened(a, DType::bf16), shortened(b, DType::bf16)}, &shape), DType::f32);
    default: return add("MatMul", {a, b}, &shape);
  }
}

ValueId RandomPlanGraph::einsum(const DimList& shape, int depth) {
  std::string letters = "abcdefgh", sides[2], result;
  DimList dims[2], all = shape;
  for (size_t k = 0; k < shape.size(); ++k) result += letters[k];
  const size_t sums = pick(3);
  for (size_t k = 0; k < sums; ++k) all.push_back(some_dim());
  for (size_t k = 0; k < all.size(); ++k) {
    const size_t where = k >= shape.size() ? (pick(4) ? 2 : pick(3)) : pick(3);
    for (size_t side = 0; side < 2; ++side)
      if (where == side || where == 2) sides[side] += letters[k];
  }
  for (size_t side = 0; side < 2; ++side) {
    std::shuffle(sides[side].begin(), sides[side].end(), random_);
    if (sides[side].size() == 1 && pick(4) == 0) sides[side] += sides[side][0];  // a diagonal
    for (char c : sides[side]) dims[side].push_back(all[static_cast<size_t>(c - 'a')]);
    if (sides[side].empty() || sides[side].size() > 5) return {};
  }
  return add("Einsum", {small(make(dims[0], depth)), small(make(dims[1], depth))}, &shape,
             with("equation", sides[0] + "," + sides[1] + "->" + result));
}

ValueId RandomPlanGraph::convolved(const DimList& shape, int depth) {
  if (shape.size() < 3 || !shape[1].is_number()) return {};
  const int64_t channels = shape[1].value(), group = channels % 2 == 0 && pick(3) == 0 ? 2 : pick(5) == 0 ? channels : 1;
  const int64_t per_group = group == channels && pick(2) ? 1 : from_to(1, 5);
  DimList before{shape[0], Dim(group * per_group)}, weights{Dim(channels), Dim(per_group)};
  std::vector<int64_t> pads((shape.size() - 2) * 2, 0), strides, dilations;
  for (size_t d = 2; d < shape.size(); ++d) {
    const size_t at = d - 2;
    const int64_t kernel = from_to(1, 3), dilation = shape[d].is_number() ? from_to(1, 2) : 1, reach = (kernel - 1) * dilation + 1;
    const int64_t stride = shape[d].is_number() ? from_to(1, 2) : 1;
    strides.push_back(stride);
    dilations.push_back(dilation);
    const int64_t begin = from_to(0, reach - 1), end = from_to(0, reach - 1);
    const Dim size = (shape[d] - 1) * Dim(stride) + Dim(reach) - Dim(begin + end);
    const bool fits = size.lower() >= 1;
    if (fits) pads[at] = begin, pads[at + shape.size() - 2] = end;
    before.push_back(fits ? size : (shape[d] - 1) * Dim(stride) + Dim(reach));
    weights.push_back(kernel);
  }
  ir::Attributes how = with("pads", ir::Ints(pads), with("strides", ir::Ints(strides), with("dilations", ir::Ints(dilations))));
  how = with("group", group, std::move(how));
  std::vector<ValueId> operands{small(make(before, depth)), pick(3) ? numbers(weights) : small(make(weights, depth))};
  if (pick(2) == 0) operands.push_back(numbers({Dim(channels)}));
  if (operands.size() == 2 && pick(4) == 0) {
    const std::vector<ValueId> bytes{shortened(operands[0], DType::u8), shortened(operands[1], DType::i8)};
    return cast(add("ConvInteger", bytes, &shape, std::move(how)), DType::f32);
  }
  return add("Conv", operands, &shape, std::move(how));
}

ValueId RandomPlanGraph::row(const DimList& shape, int depth) {
  if (shape.empty()) return {};
  const int64_t axis = static_cast<int64_t>(pick(shape.size()));
  switch (pick(4)) {
    case 0: return add("Softmax", {make(shape, depth)}, &shape, with("axis", axis));
    case 1: return add("CumSum", {clipped(make(shape, depth)), integer(axis)}, &shape, with("reverse", from_to(0, 1)));
    case 2: {
      const Dim last = shape.back();
      if (!last.is_number() || last.value() < 2) return {};
      return add("LayerNormalization", {make(shape, depth), numbers({last}), numbers({last})}, &shape, with("axis", int64_t{-1}));
    }
    default: return add("LogSoftmax", {make(shape, depth)}, &shape, with("axis", axis));
  }
}

ValueId RandomPlanGraph::integer(int64_t value) {
  Tensor t = *Tensor::make(DType::i64, {});
  t.set_integer(0, value);
  return graph_->add_constant(ir::constant_of(std::move(t)), name("i"));
}

ValueId RandomPlanGraph::reduced(const DimList& shape, int depth) {
  static constexpr const char* kOps[] = {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean"};
  DimList before = shape;
  const size_t axis = pick(shape.size() + 1);
  before.insert(before.begin() + static_cast<ptrdiff_t>(axis), some_dim());
  if (before.size() > 5) return {};
  return add(kOps[pick(4)], {small(make(before, depth)), ints({static_cast<int64_t>(axis)})}, &shape, with("keepdims", int64_t{0}));
}

ValueId RandomPlanGraph::attended(const DimList& shape, int depth) {
  if (shape.size() != 4 || !shape[1].is_number() || !shape[3].is_number()) return {};
  const Dim keys = some_dim(), head = Dim(from_to(1, 20)), key_heads = pick(2) ? shape[1] : Dim(1);
  std::vector<ValueId> operands{make({shape[0], shape[1], shape[2], head}, depth), make({shape[0], key_heads, keys, head}, depth),
                                make({shape[0], key_heads, keys, shape[3]}, depth)};
  ir::Attributes how;
  if (pick(3)) {
    DimList mask{pick(2) ? shape[0] : Dim(1), pick(2) ? shape[1] : Dim(1), pick(3) ? shape[2] : Dim(1), keys};
    mask.erase(mask.begin(), mask.begin() + static_cast<ptrdiff_t>(pick(3)));
    operands.push_back(make(mask, depth));
  } else if (pick(2)) {
    how = with("is_causal", int64_t{1});
  }
  return add("Attention", operands, &shape, std::move(how));
}

ValueId RandomPlanGraph::pooled(const DimList& shape, int depth) {
  if (shape.size() < 3) return {};
  DimList before{shape[0], shape[1]};
  std::vector<int64_t> kernel, strides;
  for (size_t d = 2; d < shape.size(); ++d) {
    kernel.push_back(from_to(1, 3));
    strides.push_back(shape[d].is_number() ? from_to(1, 2) : 1);
    before.push_back((shape[d] - 1) * Dim(strides.back()) + Dim(kernel.back()));
  }
  return add(pick(2) ? "MaxPool" : "AveragePool", {make(before, depth)}, &shape,
             with("kernel_shape", ir::Ints(kernel), with("strides", ir::Ints(strides))));
}

ValueId RandomPlanGraph::rearranged(const DimList& shape, int depth) {
  switch (pick(4)) {
    case 0: {
      if (shape.size() != 4 || !shape[2].is_number() || !shape[3].is_number()) return {};
      if (shape[2].value() % 2 || shape[3].value() % 2) return {};
      const DimList before{shape[0], shape[1] * Dim(4), Dim(shape[2].value() / 2), Dim(shape[3].value() / 2)};
      return add("DepthToSpace", {make(before, depth)}, &shape,
                 with("blocksize", int64_t{2}, with("mode", std::string(pick(2) ? "CRD" : "DCR"))));
    }
    case 1: {
      const int axis = known_dimension(shape);
      if (axis < 0 || shape[static_cast<size_t>(axis)].value() % 2) return {};
      DimList before = shape;
      before[static_cast<size_t>(axis)] = shape[static_cast<size_t>(axis)].value() / 2;
      std::vector<int64_t> times(shape.size(), 1);
      times[static_cast<size_t>(axis)] = 2;
      return add("Tile", {make(before, depth), ints(times)}, &shape);
    }
    case 2: return shape.size() < 2 ? ValueId() : add("Trilu", {make(shape, depth)}, &shape, with("upper", from_to(0, 1)));
    default: {
      if (shape.empty() || !shape[0].is_number()) return {};
      DimList rows = shape;
      rows[0] = 1;
      return add(
          "ScatterND",
          {make(shape, depth),
           graph_->add_constant(ir::constant_of(Tensor::of_i64({1, 1}, std::vector<int64_t>{from_to(0, shape[0].value() - 1)})), name("i")),
           make(rows, depth)},
          &shape);
    }
  }
}

}  // namespace tenon::codegen
