// SPDX-License-Identifier: Apache-2.0
// Random graphs of views, gathers, contractions, epilogues and rows: planned, lowered and run, they give what the reference says.
// TENON_SEED=N runs that one plan; TENON_PLANS=N runs as many, from TENON_FIRST on, up to TENON_FAULTS=N faults.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

#include "codegen/loops/plan.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

using ir::ValueId;

/// Makes values of a wanted shape: of an op chosen at random, whose operands are made in the same way. All numbers are small integers
/// where an op does not make others of them, so that sums are exact in any order.
class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed), graph_(std::make_unique<ir::Graph>(ops::table())) {
    for (const char* name : {"n", "m"}) symbols_.push_back(graph_->symbols().symbol(name, 1, 64));
    graph_->add_input("sizes", ir::Type(DType::f32, symbols_));  // tells both, whatever else there is
  }

  std::unique_ptr<ir::Graph> make() {
    const size_t outputs = 1 + pick(2);
    for (size_t k = 0; k < outputs; ++k) graph_->add_output(make(some_shape(), 3 + static_cast<int>(pick(3))));
    return std::move(graph_);
  }

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  int64_t from_to(int64_t a, int64_t b) { return std::uniform_int_distribution<int64_t>(a, b)(random_); }
  Dim some_dim() { return pick(5) == 0 ? symbols_[pick(2)] : Dim(pick(8) == 0 ? from_to(15, 36) : from_to(1, 6)); }
  DimList some_shape() {
    DimList shape;
    for (size_t rank = 1 + pick(4); rank-- > 0;) shape.push_back(some_dim());
    return shape;
  }
  static int64_t most(const DimList& shape) {
    int64_t n = 1;
    for (Dim d : shape) n *= d.number().value_or(8);
    return n;
  }

  static ir::Attributes with(std::string_view name, ir::Attribute value, ir::Attributes a = {}) {
    a.set(std::string(name), std::move(value));
    return a;
  }

  /// A node's result where it has the wanted shape (null: any); none where inference refuses the operands.
  ValueId add(std::string_view op, std::vector<ValueId> operands, const DimList* wanted, ir::Attributes attributes = {}) {
    for (ValueId v : operands)
      if (!v) return {};
    const ir::NodeId node = graph_->insert(*ops::table().find("", op), std::move(operands), 1, std::move(attributes));
    const ValueId v = graph_->node(node).outputs[0];
    if (ir::infer(*graph_, node) && graph_->value(v).type.has_rank() && (!wanted || *graph_->value(v).type.shape == *wanted)) return v;
    graph_->erase(node);
    return {};
  }

  ValueId ints(const std::vector<int64_t>& data) {
    return graph_->add_constant(ir::constant_of(Tensor::of_i64({static_cast<int64_t>(data.size())}, data)), name("i"));
  }
  ValueId numbers(const DimList& shape) {
    Sizes sizes;
    for (Dim d : shape) sizes.push_back(d.value());
    Tensor t = *Tensor::make(DType::f32, sizes);
    for (int64_t i = 0; i < t.count(); ++i) t.set_number(i, static_cast<double>(from_to(-3, 3)));
    return graph_->add_constant(ir::constant_of(std::move(t)), name("c"));
  }
  ValueId number(double value) { return graph_->add_constant(ir::constant_of(Tensor::scalar(DType::f32, value)), name("c")); }
  std::string name(const char* prefix) { return prefix + std::to_string(names_++); }

  ValueId leaf(const DimList& shape) {
    const bool known = std::ranges::all_of(shape, [](Dim d) { return d.is_number(); });
    if (known && pick(3) == 0) return numbers(shape);
    return graph_->add_input(name("x"), ir::Type(DType::f32, shape));
  }

  ValueId make(const DimList& shape, int depth) {
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

  ValueId some_op(const DimList& shape, int depth) {
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

  ValueId transposed(const DimList& shape, int depth) {
    std::vector<int64_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    DimList before(shape.size());
    for (size_t k = 0; k < order.size(); ++k) before[static_cast<size_t>(order[k])] = shape[k];
    return add("Transpose", {make(before, depth)}, &shape, with("perm", ir::Ints(order)));
  }
  /// A dimension whose size is a number; -1: there is none.
  int known_dimension(const DimList& shape) {
    std::vector<int> known;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d].is_number()) known.push_back(static_cast<int>(d));
    return known.empty() ? -1 : known[pick(known.size())];
  }
  ValueId sliced(const DimList& shape, int depth) {
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
  ValueId padded(const DimList& shape, int depth) {
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
  ValueId expanded(const DimList& shape, int depth) {
    DimList before = shape;
    std::vector<int64_t> to;
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool grows = shape[d].is_number() && pick(2) == 0;
      if (grows) before[d] = 1;
      to.push_back(grows ? shape[d].value() : 1);
    }
    return add("Expand", {make(before, depth), ints(to)}, &shape);
  }
  /// The same bytes: neighbours joined, one dimension split, or dimensions of 1 put in.
  ValueId reshaped(const DimList& shape, int depth) {
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
  ValueId joined(const DimList& shape, int depth) {
    const int axis = known_dimension(shape);
    if (axis < 0 || shape[static_cast<size_t>(axis)].value() < 2) return {};
    DimList first = shape, second = shape;
    const int64_t size = shape[static_cast<size_t>(axis)].value(), cut = from_to(1, size - 1);
    first[static_cast<size_t>(axis)] = cut;
    second[static_cast<size_t>(axis)] = size - cut;
    return add("Concat", {make(first, depth), make(second, depth)}, &shape, with("axis", int64_t{axis}));
  }
  ValueId gathered(const DimList& shape, int depth) {
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
  /// 0, 1, 2, ... along one dimension, computed from its size.
  ValueId counted(Dim size) {
    ValueId count = integer(size.number().value_or(0));
    if (!size.is_number()) count = add("Squeeze", {add("Shape", {leaf({size})}, nullptr)}, nullptr);
    return add("Range", {integer(0), count, integer(1)}, nullptr);
  }
  /// Relative positions: the distance of two dimensions, or the place in one, held between -5 and 4.
  ValueId distances(const DimList& index) {
    ValueId at = counted(index[0]);
    if (index.size() == 2)
      at = add("Sub", {add("Unsqueeze", {at, ints({1})}, nullptr), add("Unsqueeze", {counted(index[1]), ints({0})}, nullptr)}, nullptr);
    return add("Clip", {at, integer(-5), integer(4)}, &index);
  }
  ValueId mapped(const DimList& shape, int depth) {
    static constexpr const char* kOps[] = {"Relu", "Abs", "Neg", "Tanh", "Sigmoid", "Cos"};
    return add(kOps[pick(std::size(kOps))], {make(shape, depth)}, &shape);
  }
  /// With an operand that broadcasts.
  ValueId combined(const DimList& shape, int depth) {
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
  ValueId clipped(ValueId v) { return add("Clip", {v, number(-2), number(2)}, nullptr); }
  /// Sums that grow on sums would leave the integers that f32 holds.
  ValueId small(ValueId v) { return v && pick(2) == 0 ? clipped(v) : v; }

  ValueId product(const DimList& shape, int depth) {
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
    return add("MatMul", {small(make(a, depth)), small(make(b, depth))}, &shape);
  }
  /// Each letter of the result in one operand or both, some summed ones beside them, all in random order.
  ValueId einsum(const DimList& shape, int depth) {
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
  ValueId convolved(const DimList& shape, int depth) {
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
    return add("Conv", operands, &shape, std::move(how));
  }
  ValueId row(const DimList& shape, int depth) {
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
  ValueId integer(int64_t value) {
    Tensor t = *Tensor::make(DType::i64, {});
    t.set_integer(0, value);
    return graph_->add_constant(ir::constant_of(std::move(t)), name("i"));
  }
  ValueId reduced(const DimList& shape, int depth) {
    static constexpr const char* kOps[] = {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean"};
    DimList before = shape;
    const size_t axis = pick(shape.size() + 1);
    before.insert(before.begin() + static_cast<ptrdiff_t>(axis), some_dim());
    if (before.size() > 5) return {};
    return add(kOps[pick(4)], {small(make(before, depth)), ints({static_cast<int64_t>(axis)})}, &shape, with("keepdims", int64_t{0}));
  }
  ValueId attended(const DimList& shape, int depth) {
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
  ValueId pooled(const DimList& shape, int depth) {
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
  ValueId rearranged(const DimList& shape, int depth) {
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
        return add("ScatterND",
                   {make(shape, depth),
                    graph_->add_constant(ir::constant_of(Tensor::of_i64({1, 1}, std::vector<int64_t>{from_to(0, shape[0].value() - 1)})),
                                         name("i")),
                    make(rows, depth)},
                   &shape);
      }
    }
  }

  std::mt19937_64 random_;
  std::unique_ptr<ir::Graph> graph_;
  std::vector<Dim> symbols_;
  std::vector<ValueId> made_;
  size_t names_ = 0;
};

std::vector<Tensor> inputs_of(const ir::Graph& graph, int64_t n, int64_t m, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Tensor> inputs;
  for (ValueId v : graph.inputs()) {
    const ir::Type& type = graph.value(v).type;
    Sizes sizes;
    for (Dim d : *type.shape) sizes.push_back(substitute(d, [&](const DimNode& s) { return Dim(s.name == "n" ? n : m); }).value());
    Tensor t = *Tensor::make(type.dtype, sizes);
    for (int64_t i = 0; i < t.count(); ++i) {
      if (type.dtype == DType::i64) t.set_integer(i, static_cast<int64_t>(random() % 10) - 5);
      else t.set_number(i, static_cast<double>(random() % 7) - 3);
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

/// Empty where both agree, else the first difference. Only ops that leave the integers round.
std::string difference(const Tensor& want, const Tensor& got) {
  if (want.shape() != got.shape()) return type_text(got.dtype(), got.shape()) + " instead of " + type_text(want.dtype(), want.shape());
  for (int64_t i = 0; i < want.count(); ++i) {
    const double x = want.number(i), y = got.number(i);
    if (x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= 2e-3 * std::max(1.0, std::fabs(x))) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(y) + " instead of " + std::to_string(x);
  }
  return "";
}

uint64_t current_seed = 0;

/// What a crash leaves behind.
void name_the_seed(int signal) {
  std::fprintf(stderr, "TENON_SEED=%llu: signal %d\n", static_cast<unsigned long long>(current_seed), signal);
  std::_Exit(1);
}

/// One of the tactics that the kind of group may have, the default in every other plan.
Tactic drawn_tactic(const Group& group, const Target& target, std::mt19937_64& random) {
  const auto pick = [&](auto... each) {
    const int64_t list[] = {each...};
    return list[random() % std::size(list)];
  };
  Tactic out = default_tactic(group, target);
  if (random() % 2) return out;
  const bool loops = group.kind == GroupKind::nests;
  std::string text = loops ? fmt::format("lanes={} block={} unroll={} least={} split={} grain={}", pick(-1, -1, 0, 1, 2),
                                         pick(64, 512, 2048), pick(0, 3, 7), pick(0, 100, 4096), pick(1, 4, 64), pick(1, 1000))
                           : fmt::format("tile={}x{} grain={}", pick(1, 3, 4, 6), pick(1, 2), pick(1, 1 << 20));
  if (group.kind == GroupKind::contract) text += fmt::format(" split={} prefetch={}", pick(1, 2, 16), pick(0, 1024));
  if (group.kind == GroupKind::attention) text += fmt::format(" block={}", pick(64, 128, 512));
  if (group.kind != GroupKind::nests && group.kind != GroupKind::contract && group.kind != GroupKind::attention) return out;
  auto made = changed(out, group.kind, text, target);
  EXPECT_TRUE(made) << made.error().text();
  return made ? *made : out;
}

void check(uint64_t seed) {
  SCOPED_TRACE("TENON_SEED=" + std::to_string(seed));
  current_seed = seed;
  const auto graph = Maker(seed).make();
  const std::string text = ir::print(*graph);
  PlanOptions options;
  options.fuse = seed % 8 != 0;
  options.channels_last = seed % 3 != 0;
  options.verify = true;
  std::mt19937_64 random(seed);
  for (const PlanPass& pass : plan_passes())
    if (random() % 12 == 0) options.off.emplace(pass.name);
  const Target& target = **target_named(seed % 2 ? "x86_avx512" : "x86_avx2");
  const auto planned = planned_graph(*graph, options, target, [&](const Group& g, const Target& t) { return drawn_tactic(g, t, random); });
  ASSERT_TRUE(planned) << planned.error().text() << "\n" << text;
  const bool native = seed % 16 == 5 && cpu_features().has_all(target.needs);
  const int64_t sizes[][2] = {{3, 4}, {1, static_cast<int64_t>(seed % 21) + 1}};
  for (const auto& [n, m] : sizes) {
    const auto inputs = inputs_of(*graph, n, m, seed);
    const auto want = ops::evaluate(*graph, inputs);
    ASSERT_TRUE(want) << want.error().text() << "\n" << text;
    const auto got = run(*planned, inputs, native);
    ASSERT_TRUE(got) << got.error().text() << "\n" << text;
    for (size_t k = 0; k < want->size(); ++k)
      ASSERT_EQ(difference((*want)[k], (*got)[k]), "") << "n=" << n << " m=" << m << " result " << k << "\n"
                                                       << text << text_of(planned->plan);
  }
}

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given ? std::strtoull(given, nullptr, 10) : otherwise;
}

TEST(RandomPlans, RunAsTheReferenceSays) {
  for (int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, name_the_seed);
  if (const uint64_t seed = number_from("TENON_SEED", 0)) return check(seed);
  const uint64_t first = number_from("TENON_FIRST", 1), plans = number_from("TENON_PLANS", 400);
  const uint64_t faults = number_from("TENON_FAULTS", 1);
  uint64_t found = 0;
  for (uint64_t seed = first; seed < first + plans && found < faults; ++seed) {
    const auto parts = [] { return ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); };
    const int before = parts();
    check(seed);
    found += parts() > before;
  }
}

}  // namespace
}  // namespace tenon::codegen
