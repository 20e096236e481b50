// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/integer_factors.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

bool is_integer_zero(const Expr& e) { return is_zero(e) && !is_float(e.dtype()); }

bool has_bytes(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

/// The access that `e` casts; -1 where it is something else.
int cast_load(const Expr& e) {
  const bool is = e.op() == ExprOp::cast && e.dtype() == DType::i32 && e.args()[0].op() == ExprOp::input && has_bytes(e.args()[0].dtype());
  return is ? e.args()[0]->index : -1;
}

std::optional<IntegerFactor> integer_factor_of(const Expr& e, const Nest& nest) {
  const bool outside = e.op() == ExprOp::select && is_integer_zero(e.args()[2]);
  const Expr inside = outside ? e.args()[1] : e;
  const bool shifts = inside.op() == ExprOp::sub;
  const IntegerFactor out{cast_load(shifts ? inside.args()[0] : inside), shifts ? cast_load(inside.args()[1]) : -1};
  if (out.data < 0 || (shifts && out.zero < 0)) return std::nullopt;
  const NestAccess& data = nest.accesses[out.data];
  const bool is_inside = outside ? data.within && same(e.args()[0], data.within) : !data.within || (!shifts && is_integer_zero(data.fill));
  return is_inside ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<std::array<IntegerFactor, 2>> integer_factors_of(const Nest& nest) {
  if (nest.outputs.size() != 1 || is_indirect(nest)) return std::nullopt;
  const NestOutput& o = nest.outputs[0];
  const bool sums =
      o.combine == ops::Combine::sum && o.dtype == DType::i32 && o.value && o.value.op() == ExprOp::mul && !o.within && !o.flat;
  const auto is_unscanned = [](const ops::Axis& a) { return a.kind != ops::Axis::Kind::scanned; };
  if (!sums || !std::ranges::all_of(nest.axes, is_unscanned)) return std::nullopt;
  const auto a = integer_factor_of(o.value.args()[0], nest), b = integer_factor_of(o.value.args()[1], nest);
  return a && b && a->data != b->data ? std::optional(std::array{*a, *b}) : std::nullopt;
}

namespace {

/// Walks the elements of a large array in row-major order, and gives for each the element number in a smaller array that broadcasts to it.
class AlignedElements {
 public:
  /// shape: of the large array. steps: strides of the small array along each of its dimensions.
  AlignedElements(Sizes shape, std::vector<int64_t> steps) : shape_(std::move(shape)), steps_(std::move(steps)), index_(shape_.size(), 0) {}

  int64_t at() const { return at_; }
  void next() {
    for (size_t d = shape_.size(); d-- > 0;) {
      at_ += steps_[d];
      if (++index_[d] < shape_[d]) return;
      at_ -= steps_[d] * shape_[d];
      index_[d] = 0;
    }
  }

 private:
  Sizes shape_;
  std::vector<int64_t> steps_;
  Sizes index_;
  int64_t at_ = 0;
};

/// Strides of the zero point along each dimension of the factor; nullopt where it does not broadcast to the factor.
std::optional<std::vector<int64_t>> zero_steps(const NestAccess& b, const NestAccess& zero, const Sizes& shape) {
  std::vector<int64_t> out(b.index.size(), 0);
  int64_t step = 1;
  for (size_t k = zero.index.size(); k-- > 0;) {
    if (shape[k] == 1) continue;
    size_t d = 0;
    while (d < b.index.size() && !same(b.index[d], zero.index[k])) ++d;
    if (d == b.index.size()) return std::nullopt;
    out[d] += step;
    step *= shape[k];
  }
  return out;
}

/// b - zero as i8; null where a difference does not fit.
ir::ConstantRef without_zeros(const Tensor& b, const Tensor& zero, AlignedElements place) {
  auto out = Tensor::make(DType::i8, b.shape());
  if (!out) return nullptr;
  const std::span<int8_t> to = out->as_mutable<int8_t>();
  const auto bytes = b.as<uint8_t>(), zeros = zero.as<uint8_t>();
  const auto value = [](const Tensor& t, uint8_t byte) { return t.dtype() == DType::i8 ? int{static_cast<int8_t>(byte)} : int{byte}; };
  for (size_t k = 0; k < to.size(); ++k, place.next()) {
    const int difference = value(b, bytes[k]) - value(zero, zeros[static_cast<size_t>(place.at())]);
    if (difference < -128 || difference > 127) return nullptr;
    to[k] = static_cast<int8_t>(difference);
  }
  return ir::constant_of(std::move(*out));
}

/// The factor minus its zero point; the factor itself where that is 0 or missing.
ir::ConstantRef without_zero(const IntegerFactor& b, const Nest& nest, const Plan& plan) {
  const NestAccess& data = nest.accesses[b.data];
  const ir::ConstantRef source = plan.arrays[data.array].constant;
  const bool plain = b.zero < 0 && source->dtype == DType::i8;
  if (plain) return source;
  const Tensor none = Tensor::scalar(DType::u8, 0);
  const Tensor* zero = &none;
  std::optional<std::vector<int64_t>> steps(std::in_place, source->shape.size(), 0);
  if (b.zero >= 0) {
    const NestAccess& access = nest.accesses[b.zero];
    const ir::ConstantRef constant = plan.arrays[access.array].constant;
    zero = constant && !access.within && !access.flat ? constant->tensor() : nullptr;
    if (!zero || !(steps = zero_steps(data, access, constant->shape))) return nullptr;
  }
  const bool is_zero_point_0 = source->dtype == DType::i8 && std::ranges::all_of(zero->as<uint8_t>(), [](uint8_t z) { return z == 0; });
  if (is_zero_point_0) return source;
  const Tensor* tensor = source->tensor();
  return tensor ? without_zeros(*tensor, *zero, AlignedElements(source->shape, *steps)) : nullptr;
}

/// For each dimension, whether the nest sums over all of it. nullopt where the nest reduces one in part.
std::optional<std::vector<bool>> summed_dimensions(const NestAccess& b, const Nest& nest, const Sizes& shape) {
  std::vector<bool> out;
  std::vector<bool> seen(nest.axes.size(), false);
  for (size_t d = 0; d < b.index.size(); ++d) {
    int reduced = -1;
    for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x)
      if (nest.axes[x].kind == ops::Axis::Kind::reduced && mentions(b.index[d], ExprOp::axis, x)) reduced = x;
    out.push_back(reduced >= 0);
    if (reduced < 0) continue;
    if (b.index[d].op() != ExprOp::axis || seen[reduced] || !(nest.axes[reduced].extent == Dim(shape[d]))) return std::nullopt;
    seen[reduced] = true;
  }
  for (size_t x = 0; x < nest.axes.size(); ++x)
    if (nest.axes[x].kind == ops::Axis::Kind::reduced && !seen[x] && !(nest.axes[x].extent == Dim(1))) return std::nullopt;
  return out;
}

ir::ConstantRef sums_of(const Tensor& b, const std::vector<bool>& summed) {
  Sizes shape;
  std::vector<int64_t> steps(summed.size(), 0);
  int64_t step = 1;
  for (size_t d = summed.size(); d-- > 0;) {
    if (summed[d]) continue;
    steps[d] = step;
    step *= b.shape()[d];
    shape.insert(shape.begin(), b.shape()[d]);
  }
  auto out = Tensor::make(DType::i32, std::move(shape));
  if (!out) return nullptr;
  const std::span<int32_t> sums = out->as_mutable<int32_t>();
  AlignedElements place(b.shape(), std::move(steps));
  for (const int8_t value : b.as<int8_t>()) {
    int32_t& sum = sums[static_cast<size_t>(place.at())];
    sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(int32_t{value}));
    place.next();
  }
  return ir::constant_of(std::move(*out));
}

}  // namespace

std::optional<IntegerWeights> integer_weights_of(const IntegerFactor& b, const Nest& nest, const Plan& plan) {
  const NestAccess& data = nest.accesses[b.data];
  const ir::ConstantRef source = plan.arrays[data.array].constant;
  if (!source || data.within || data.flat || source->count() == 0) return std::nullopt;
  const auto summed = summed_dimensions(data, nest, source->shape);
  if (!summed) return std::nullopt;
  IntegerWeights out{without_zero(b, nest, plan), nullptr, {}};
  const Tensor* tensor = out.shifted ? out.shifted->tensor() : nullptr;
  out.sums = tensor ? sums_of(*tensor, *summed) : nullptr;
  if (!out.sums) return std::nullopt;
  for (size_t d = 0; d < summed->size(); ++d)
    if (!(*summed)[d]) out.index.push_back(data.index[d]);
  return out;
}

}  // namespace tenon::codegen
