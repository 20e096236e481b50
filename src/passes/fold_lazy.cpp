// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_lazy.h"

#include <algorithm>

#include "rewrite/match.h"

namespace tenon::passes {
namespace {

using ir::ConstantRef;
using Folded = std::optional<std::vector<ConstantRef>>;

/// Questions about one node whose operands are all constant.
class Lazy {
 public:
  Lazy(const ir::Graph& graph, ir::NodeId node) : look_(graph), id_(node), node_(graph.node(node)) {}

  Folded fold() {
    const auto is = [&](std::string_view op) { return node_.is(op); };
    if (is("Identity")) return one(constant(0));
    if (is("Transpose")) return transpose();
    if (is("Reshape") || is("Squeeze") || is("Unsqueeze") || is("Flatten")) return reshape();
    if (is("Concat")) return concat();
    if (is("Cast")) return cast();
    if (is("Slice")) return slice();
    if (is("Split")) return split();
    if (is("Mul") || is("Div")) return scale();
    return std::nullopt;
  }

 private:
  static Folded one(ConstantRef c) { return std::vector<ConstantRef>{std::move(c)}; }
  ConstantRef constant(size_t slot) const { return look_.value(node_.inputs[slot]).constant; }
  std::optional<Sizes> result_shape(size_t index = 0) const {
    const ir::Type& type = look_.value(node_.outputs[index]).type;
    if (!type.shape || !type.is_static()) return std::nullopt;
    Sizes shape;
    for (Dim d : *type.shape) shape.push_back(d.value());
    return shape;
  }

  Folded transpose() const {
    const auto shape = constant(0)->shape;
    const ir::Ints perm = node_.attributes.ints("perm");
    std::vector<int> order(shape.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(perm.empty() ? order.size() - 1 - i : perm[i]);
    return one(ir::permute(constant(0), std::move(order)));
  }

  Folded reshape() const {
    auto shape = result_shape();
    return shape ? one(ir::reshape(constant(0), std::move(*shape))) : std::nullopt;
  }

  Folded concat() const {
    const auto axis = look_.axis(id_, "axis", 0, node_.inputs[0]);
    if (!axis) return std::nullopt;
    std::vector<ConstantRef> parts;
    for (size_t i = 0; i < node_.explicit_inputs; ++i) parts.push_back(constant(i));
    return one(ir::concat(std::move(parts), *axis));
  }

  Folded cast() const {
    const DType from = constant(0)->dtype, to = look_.dtype(node_.outputs[0]);
    const auto plain = [](DType d) { return is_real_arithmetic(d) || is_integer(d); };
    if (!plain(from) || !plain(to) || bits_of(from) < 8 || bits_of(to) < 8) return std::nullopt;
    return one(ir::cast(constant(0), to));
  }

  Folded slice() const {
    const auto starts = look_.ints(look_.operand(id_, 1)), ends = look_.ints(look_.operand(id_, 2));
    if (!starts || !ends || starts->size() != ends->size()) return std::nullopt;
    const auto axes = look_.operand(id_, 3) ? look_.ints(look_.operand(id_, 3)) : std::nullopt;
    const auto steps = look_.operand(id_, 4) ? look_.ints(look_.operand(id_, 4)) : std::nullopt;
    ConstantRef out = constant(0);
    const int64_t rank = static_cast<int64_t>(out->shape.size());
    for (size_t i = 0; i < starts->size(); ++i) {
      int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
      if (axis < 0) axis += rank;
      if ((steps && (*steps)[i] != 1) || axis < 0 || axis >= rank) return std::nullopt;
      const int64_t size = out->shape[axis];
      const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
      const int64_t begin = clamp((*starts)[i]);
      out = ir::slice(out, static_cast<int>(axis), begin, std::max(begin, clamp((*ends)[i])));
    }
    return one(std::move(out));
  }

  Folded split() const {
    const auto axis = look_.axis(id_, "axis", 0, node_.inputs[0]);
    if (!axis) return std::nullopt;
    std::vector<ConstantRef> parts;
    int64_t at = 0;
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      const auto shape = node_.outputs[i] ? result_shape(i) : std::nullopt;
      if (!shape) return std::nullopt;
      parts.push_back(ir::slice(constant(0), *axis, at, at + (*shape)[*axis]));
      at += (*shape)[*axis];
    }
    return parts;
  }

  /// Large constant times (divided by) one number, or one number for each position on an axis. A product of two f32 is exact in
  /// fp64, and so is the rounding of their quotient: the same bits as Mul and Div give.
  Folded scale() const {
    const bool divide = node_.is("Div");
    const size_t large = !divide && constant(1)->count() > constant(0)->count() ? 1 : 0;
    const ConstantRef data = constant(large), factors = constant(1 - large);
    if (data->dtype != DType::f32 || result_shape() != std::optional(data->shape) || data->shape.empty()) return std::nullopt;
    const size_t shift = data->shape.size() - factors->shape.size();
    int axis = static_cast<int>(data->shape.size()) - 1;
    for (size_t i = 0; i < factors->shape.size(); ++i) {
      if (factors->shape[i] == 1) continue;
      if (factors->shape[i] != factors->count()) return std::nullopt;
      axis = static_cast<int>(i + shift);
    }
    if (factors->count() == data->shape[axis]) return one(ir::scale(data, ir::reshape(factors, {factors->count()}), axis, divide));
    const auto number = look_.number(node_.inputs[1 - large]);
    auto splat = Tensor::make(data->dtype, {data->shape[axis]});
    if (!number || !splat) return std::nullopt;
    for (int64_t i = 0; i < splat->count(); ++i) splat->set_number(i, *number);
    return one(ir::scale(data, ir::constant_of(std::move(*splat)), axis, divide));
  }

  rewrite::Look look_;
  ir::NodeId id_;
  const ir::Node& node_;
};

}  // namespace

std::optional<std::vector<ir::ConstantRef>> fold_lazily(const ir::Graph& graph, ir::NodeId node) { return Lazy(graph, node).fold(); }

}  // namespace tenon::passes
