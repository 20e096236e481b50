// SPDX-License-Identifier: Apache-2.0
// Makes lazy constants, simplified where that costs nothing.
#include "ir/constant.h"

#include <algorithm>
#include <numeric>

#include "base/blocks/panel_words.h"
#include "base/checked.h"
#include "ir/literal.h"

namespace tenon::ir {

const Constant::Reference* Constant::unread() const {
  if (auto* x = std::get_if<Slice>(&source)) return x->operand->unread();
  if (auto* x = std::get_if<Permute>(&source)) return x->operand->unread();
  if (auto* x = std::get_if<Reshape>(&source)) return x->operand->unread();
  if (auto* x = std::get_if<Cast>(&source)) return x->operand->unread();
  if (auto* x = std::get_if<Pack>(&source)) return x->operand->unread();
  if (auto* x = std::get_if<PackBlocks>(&source)) return x->operand->unread();
  if (auto* x = std::get_if<Scale>(&source)) return x->operand->unread() ? x->operand->unread() : x->factors->unread();
  if (auto* x = std::get_if<Product>(&source)) return x->operand->unread() ? x->operand->unread() : x->factors->unread();
  if (auto* x = std::get_if<Sum>(&source)) return x->operand->unread() ? x->operand->unread() : x->addend->unread();
  if (auto* x = std::get_if<Concat>(&source)) {
    const auto part = std::ranges::find_if(x->operand, [](const ConstantRef& c) { return c->unread() != nullptr; });
    return part == x->operand.end() ? nullptr : (*part)->unread();
  }
  return std::get_if<Reference>(&source);
}

void Constant::each_tensor(const std::function<void(const Tensor&)>& visit) const {
  const auto of_step = [&](const auto& step) {
    if constexpr (requires { step.codes; }) visit(step.codes);
    if constexpr (requires { step.factors; }) step.factors->each_tensor(visit);
    if constexpr (requires { step.addend; }) step.addend->each_tensor(visit);
    if constexpr (requires { step.operand->each_tensor(visit); }) step.operand->each_tensor(visit);
    else if constexpr (requires { step.operand; })
      for (const ConstantRef& c : step.operand) c->each_tensor(visit);
  };
  if (const Tensor* plain = std::get_if<Tensor>(&source)) visit(*plain);
  else std::visit(of_step, source);
}

int64_t Constant::count() const {
  auto n = checked_count(shape);
  TENON_ASSERT(n.has_value());
  return *n;
}

const Tensor* Constant::tensor() const {
  if (const Tensor* plain = std::get_if<Tensor>(&source)) return plain;
  std::call_once(compute_once, [&] {
    if (Result<Tensor> made = materialise(*this)) computed = *std::move(made);
  });
  return computed ? &*computed : nullptr;
}

static ConstantRef make(DType dtype, Sizes shape, decltype(Constant::source) source) {
  return std::make_shared<const Constant>(dtype, std::move(shape), std::move(source));
}

ConstantRef constant_of(Tensor tensor) {
  DType dtype = tensor.dtype();
  Sizes shape = tensor.shape();
  return make(dtype, std::move(shape), std::move(tensor));
}

ConstantRef reference_to(Constant::Reference bytes, DType dtype, Sizes shape) { return make(dtype, std::move(shape), std::move(bytes)); }

/// Rows [begin, end) of a plain tensor's outermost axis longer than 1 are a range of its bytes: a view, no lazy step.
static ConstantRef plain_slice(const Tensor& t, int axis, int64_t begin, Sizes shape) {
  int bits = bits_of(t.dtype());
  if (bits < 8 || t.count() == 0) return nullptr;
  int64_t inner = 1;
  for (int i = 0; i < t.rank(); ++i) {
    if (i < axis && t.shape()[static_cast<size_t>(i)] != 1) return nullptr;
    if (i > axis) inner *= t.shape()[static_cast<size_t>(i)];
  }
  const std::byte* from = t.data() + begin * inner * (bits / 8);
  return constant_of(Tensor::view(t.dtype(), std::move(shape), from, std::make_shared<const Tensor>(t)));
}

ConstantRef slice(ConstantRef operand, int axis, int64_t begin, int64_t end, int64_t step) {
  auto a = static_cast<size_t>(axis);
  TENON_ASSERT(a < operand->shape.size() && step != 0);
  int64_t size = operand->shape[a];
  int64_t count = std::max<int64_t>(0, step > 0 ? ceil_div(end - begin, step) : ceil_div(begin - end, -step));
  TENON_ASSERT(count == 0 || (begin >= 0 && begin < size && begin + (count - 1) * step >= 0 && begin + (count - 1) * step < size));
  if (count == size && step == 1) return operand;
  Sizes shape = operand->shape;
  shape[a] = count;
  if (operand->is_plain() && (step == 1 || count == 1)) {
    if (ConstantRef view = plain_slice(std::get<Tensor>(operand->source), axis, begin, shape)) return view;
  }
  DType dtype = operand->dtype;
  return make(dtype, std::move(shape), Constant::Slice{std::move(operand), axis, begin, end, step});
}

ConstantRef permute(ConstantRef operand, std::vector<int> order) {
  TENON_ASSERT(order.size() == operand->shape.size());
  if (auto* inner = std::get_if<Constant::Permute>(&operand->source)) {
    for (int& k : order) k = inner->order[static_cast<size_t>(k)];
    return permute(ConstantRef(inner->operand), std::move(order));
  }
  Sizes shape;
  bool identity = true;
  for (size_t i = 0; i < order.size(); ++i) {
    shape.push_back(operand->shape[static_cast<size_t>(order[i])]);
    identity &= order[i] == static_cast<int>(i);
  }
  if (identity) return operand;
  DType dtype = operand->dtype;
  return make(dtype, std::move(shape), Constant::Permute{std::move(operand), std::move(order)});
}

ConstantRef reshape(ConstantRef operand, Sizes shape) {
  TENON_ASSERT(checked_count(shape) == operand->count());
  if (operand->shape == shape) return operand;
  if (auto* inner = std::get_if<Constant::Reshape>(&operand->source)) return reshape(ConstantRef(inner->operand), std::move(shape));
  if (auto* tensor = std::get_if<Tensor>(&operand->source)) return constant_of(tensor->reshaped(std::move(shape)));
  if (auto* bytes = std::get_if<Constant::Reference>(&operand->source)) return reference_to(*bytes, operand->dtype, std::move(shape));
  DType dtype = operand->dtype;
  return make(dtype, std::move(shape), Constant::Reshape{std::move(operand)});
}

ConstantRef concat(std::vector<ConstantRef> operand, int axis) {
  TENON_ASSERT(!operand.empty());
  if (operand.size() == 1) return operand[0];
  auto a = static_cast<size_t>(axis);
  DType dtype = operand[0]->dtype;
  Sizes shape = operand[0]->shape;
  TENON_ASSERT(a < shape.size());
  shape[a] = 0;
  for (const ConstantRef& part : operand) {
    TENON_ASSERT(part->dtype == dtype && part->shape.size() == shape.size());
    shape[a] += part->shape[a];
  }
  return make(dtype, std::move(shape), Constant::Concat{std::move(operand), axis});
}

ConstantRef cast(ConstantRef operand, DType dtype) {
  if (operand->dtype == dtype) return operand;
  Sizes shape = operand->shape;
  return make(dtype, std::move(shape), Constant::Cast{std::move(operand)});
}

ConstantRef scale(ConstantRef operand, ConstantRef factors, int axis, bool divide) {
  TENON_ASSERT(static_cast<size_t>(axis) < operand->shape.size() && factors->count() == operand->shape[static_cast<size_t>(axis)]);
  DType dtype = operand->dtype;
  Sizes shape = operand->shape;
  return make(dtype, std::move(shape), Constant::Scale{std::move(operand), std::move(factors), axis, divide});
}

ConstantRef product(ConstantRef operand, ConstantRef factors) {
  TENON_ASSERT(is_float(operand->dtype) && !operand->shape.empty() && factors->dtype == DType::f64);
  TENON_ASSERT(factors->shape.size() == 2 && factors->shape[1] == operand->shape.back());
  DType dtype = operand->dtype;
  Sizes shape = operand->shape;
  shape.back() = factors->shape[0];
  return make(dtype, std::move(shape), Constant::Product{std::move(operand), std::move(factors)});
}

ConstantRef sum(ConstantRef operand, ConstantRef addend) {
  TENON_ASSERT(operand->dtype == DType::f32 && addend->dtype == DType::f32 && operand->shape == addend->shape);
  Sizes shape = operand->shape;
  return make(DType::f32, std::move(shape), Constant::Sum{std::move(operand), std::move(addend)});
}

ConstantRef pack(ConstantRef operand, int64_t panel, int64_t group) {
  TENON_ASSERT(panel > 0 && group > 0 && operand->shape.size() >= 2 && bits_of(operand->dtype) >= 8);
  DType dtype = operand->dtype;
  Sizes shape = operand->shape;
  int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  shape[shape.size() - 2] = ceil_div(columns, panel);
  shape.back() = ceil_div(rows, group);
  shape.push_back(panel);
  if (group > 1) shape.push_back(group);
  return make(dtype, std::move(shape), Constant::Pack{std::move(operand), panel, group});
}

ConstantRef decode_blocks(Tensor codes, const BlockFormat& format, Sizes shape) {
  TENON_ASSERT(format.decode && codes.dtype() == DType::u8 &&
               checked_count(shape).value_or(-1) * format.bytes == codes.count() * format.elements);
  return make(DType::f32, std::move(shape), Constant::Blocks{std::move(codes), &format});
}

static ConstantRef packed(ConstantRef bytes, const BlockFormat& format, int64_t panel, bool scales) {
  TENON_ASSERT(format.linear && bytes->shape.size() == 3 && bytes->shape[2] == format.bytes && panel > 0);
  const int64_t blocks = bytes->shape[0], panels = ceil_div(bytes->shape[1], panel);
  const bool words = is_in_words(*format.linear);
  Sizes shape = words ? Sizes{panels, blocks, panel_words(format), panel} : Sizes{panels, blocks * format.elements, panel};
  if (scales) shape = {panels, blocks * (format.elements / scale_elements(format)), scale_parts(format), panel};
  const DType dtype = scales ? format.linear->scale_type : words ? DType::i32 : DType::i8;
  return make(dtype, std::move(shape), Constant::PackBlocks{std::move(bytes), &format, panel, scales});
}

ConstantRef packed_codes(ConstantRef bytes, const BlockFormat& format, int64_t panel) {
  return packed(std::move(bytes), format, panel, false);
}
ConstantRef packed_scales(ConstantRef bytes, const BlockFormat& format, int64_t panel) {
  return packed(std::move(bytes), format, panel, true);
}

static bool same_step(const Constant& a, const Constant& b) {
  if (a.source.index() != b.source.index()) return false;
  if (auto* x = std::get_if<Constant::Slice>(&a.source)) {
    auto& y = std::get<Constant::Slice>(b.source);
    return x->axis == y.axis && x->begin == y.begin && x->end == y.end && x->step == y.step && same(*x->operand, *y.operand);
  }
  if (auto* x = std::get_if<Constant::Permute>(&a.source)) {
    auto& y = std::get<Constant::Permute>(b.source);
    return x->order == y.order && same(*x->operand, *y.operand);
  }
  if (auto* x = std::get_if<Constant::Reshape>(&a.source)) return same(*x->operand, *std::get<Constant::Reshape>(b.source).operand);
  if (auto* x = std::get_if<Constant::Concat>(&a.source)) {
    auto& y = std::get<Constant::Concat>(b.source);
    return x->axis == y.axis && std::ranges::equal(x->operand, y.operand, [](auto& p, auto& q) { return same(*p, *q); });
  }
  if (auto* x = std::get_if<Constant::Cast>(&a.source)) return same(*x->operand, *std::get<Constant::Cast>(b.source).operand);
  if (auto* x = std::get_if<Constant::Scale>(&a.source)) {
    auto& y = std::get<Constant::Scale>(b.source);
    return x->axis == y.axis && x->divide == y.divide && same(*x->operand, *y.operand) && same(*x->factors, *y.factors);
  }
  if (auto* x = std::get_if<Constant::Product>(&a.source)) {
    auto& y = std::get<Constant::Product>(b.source);
    return same(*x->operand, *y.operand) && same(*x->factors, *y.factors);
  }
  if (auto* x = std::get_if<Constant::Sum>(&a.source)) {
    auto& y = std::get<Constant::Sum>(b.source);
    return same(*x->operand, *y.operand) && same(*x->addend, *y.addend);
  }
  if (auto* x = std::get_if<Constant::Pack>(&a.source)) {
    auto& y = std::get<Constant::Pack>(b.source);
    return x->panel == y.panel && x->group == y.group && same(*x->operand, *y.operand);
  }
  if (auto* x = std::get_if<Constant::Blocks>(&a.source)) {
    auto& y = std::get<Constant::Blocks>(b.source);
    return x->format == y.format && same(x->codes, y.codes);
  }
  if (auto* x = std::get_if<Constant::PackBlocks>(&a.source)) {
    auto& y = std::get<Constant::PackBlocks>(b.source);
    return x->format == y.format && x->panel == y.panel && x->scales == y.scales && same(*x->operand, *y.operand);
  }
  return std::get<Constant::Reference>(a.source) == std::get<Constant::Reference>(b.source);
}

bool same(const Constant& a, const Constant& b) {
  if (&a == &b) return true;
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  if (a.is_plain() && b.is_plain()) return same(std::get<Tensor>(a.source), std::get<Tensor>(b.source));
  if (!a.is_plain() && same_step(a, b)) return true;
  constexpr int64_t kComputeLimit = 65536;  // small ones are worth computing to find out
  if (a.byte_size() > kComputeLimit || a.unread() || b.unread()) return false;
  Result<Tensor> x = materialise(a), y = materialise(b);
  return x && y && same(*x, *y);
}

}  // namespace tenon::ir
