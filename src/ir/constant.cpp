// SPDX-License-Identifier: Apache-2.0
// Makes lazy constants, simplified where that costs nothing.
#include "ir/constant.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "ir/literal.h"

namespace tenon::ir {

const Constant::Reference* Constant::unread() const {
  if (auto* x = std::get_if<Slice>(&how)) return x->of->unread();
  if (auto* x = std::get_if<Permute>(&how)) return x->of->unread();
  if (auto* x = std::get_if<Reshape>(&how)) return x->of->unread();
  if (auto* x = std::get_if<Cast>(&how)) return x->of->unread();
  if (auto* x = std::get_if<Pack>(&how)) return x->of->unread();
  if (auto* x = std::get_if<Scale>(&how)) return x->of->unread() ? x->of->unread() : x->factors->unread();
  if (auto* x = std::get_if<Product>(&how)) return x->of->unread();
  if (auto* x = std::get_if<Concat>(&how)) {
    const auto part = std::ranges::find_if(x->of, [](const ConstantRef& c) { return c->unread() != nullptr; });
    return part == x->of.end() ? nullptr : (*part)->unread();
  }
  return std::get_if<Reference>(&how);
}

void Constant::each_tensor(const std::function<void(const Tensor&)>& visit) const {
  const auto of_step = [&](const auto& step) {
    if constexpr (requires { step.codes; }) visit(step.codes);
    if constexpr (requires { step.factors; }) step.factors->each_tensor(visit);
    if constexpr (requires { step.of->each_tensor(visit); }) step.of->each_tensor(visit);
    else if constexpr (requires { step.of; })
      for (const ConstantRef& c : step.of) c->each_tensor(visit);
  };
  if (const Tensor* plain = std::get_if<Tensor>(&how)) visit(*plain);
  else std::visit(of_step, how);
}

int64_t Constant::count() const {
  auto n = checked_count(shape);
  TENON_ASSERT(n.has_value());
  return *n;
}

const Tensor* Constant::tensor() const {
  if (const Tensor* plain = std::get_if<Tensor>(&how)) return plain;
  std::call_once(compute_once, [&] {
    if (Result<Tensor> made = materialise(*this)) computed = *std::move(made);
  });
  return computed ? &*computed : nullptr;
}

static ConstantRef make(DType dtype, Sizes shape, decltype(Constant::how) how) {
  return std::make_shared<const Constant>(dtype, std::move(shape), std::move(how));
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

ConstantRef slice(ConstantRef of, int axis, int64_t begin, int64_t end, int64_t step) {
  auto a = static_cast<size_t>(axis);
  TENON_ASSERT(a < of->shape.size() && step != 0);
  int64_t size = of->shape[a];
  int64_t count = std::max<int64_t>(0, step > 0 ? ceil_div(end - begin, step) : ceil_div(begin - end, -step));
  TENON_ASSERT(count == 0 || (begin >= 0 && begin < size && begin + (count - 1) * step >= 0 && begin + (count - 1) * step < size));
  if (count == size && step == 1) return of;
  Sizes shape = of->shape;
  shape[a] = count;
  if (of->is_plain() && (step == 1 || count == 1)) {
    if (ConstantRef view = plain_slice(std::get<Tensor>(of->how), axis, begin, shape)) return view;
  }
  DType dtype = of->dtype;
  return make(dtype, std::move(shape), Constant::Slice{std::move(of), axis, begin, end, step});
}

ConstantRef permute(ConstantRef of, std::vector<int> order) {
  TENON_ASSERT(order.size() == of->shape.size());
  if (auto* inner = std::get_if<Constant::Permute>(&of->how)) {
    for (int& k : order) k = inner->order[static_cast<size_t>(k)];
    return permute(ConstantRef(inner->of), std::move(order));
  }
  Sizes shape;
  bool identity = true;
  for (size_t i = 0; i < order.size(); ++i) {
    shape.push_back(of->shape[static_cast<size_t>(order[i])]);
    identity &= order[i] == static_cast<int>(i);
  }
  if (identity) return of;
  DType dtype = of->dtype;
  return make(dtype, std::move(shape), Constant::Permute{std::move(of), std::move(order)});
}

ConstantRef reshape(ConstantRef of, Sizes shape) {
  TENON_ASSERT(checked_count(shape) == of->count());
  if (of->shape == shape) return of;
  if (auto* inner = std::get_if<Constant::Reshape>(&of->how)) return reshape(ConstantRef(inner->of), std::move(shape));
  if (auto* tensor = std::get_if<Tensor>(&of->how)) return constant_of(tensor->reshaped(std::move(shape)));
  if (auto* bytes = std::get_if<Constant::Reference>(&of->how)) return reference_to(*bytes, of->dtype, std::move(shape));
  DType dtype = of->dtype;
  return make(dtype, std::move(shape), Constant::Reshape{std::move(of)});
}

ConstantRef concat(std::vector<ConstantRef> of, int axis) {
  TENON_ASSERT(!of.empty());
  if (of.size() == 1) return of[0];
  auto a = static_cast<size_t>(axis);
  DType dtype = of[0]->dtype;
  Sizes shape = of[0]->shape;
  TENON_ASSERT(a < shape.size());
  shape[a] = 0;
  for (const ConstantRef& part : of) {
    TENON_ASSERT(part->dtype == dtype && part->shape.size() == shape.size());
    shape[a] += part->shape[a];
  }
  return make(dtype, std::move(shape), Constant::Concat{std::move(of), axis});
}

ConstantRef cast(ConstantRef of, DType dtype) {
  if (of->dtype == dtype) return of;
  Sizes shape = of->shape;
  return make(dtype, std::move(shape), Constant::Cast{std::move(of)});
}

ConstantRef scale(ConstantRef of, ConstantRef factors, int axis, bool divide) {
  TENON_ASSERT(static_cast<size_t>(axis) < of->shape.size() && factors->count() == of->shape[static_cast<size_t>(axis)]);
  DType dtype = of->dtype;
  Sizes shape = of->shape;
  return make(dtype, std::move(shape), Constant::Scale{std::move(of), std::move(factors), axis, divide});
}

ConstantRef product(ConstantRef of, ConstantRef factors) {
  TENON_ASSERT(is_float(of->dtype) && !of->shape.empty() && factors->is_plain() && factors->dtype == DType::f64);
  TENON_ASSERT(factors->shape.size() == 2 && factors->shape[1] == of->shape.back());
  DType dtype = of->dtype;
  Sizes shape = of->shape;
  shape.back() = factors->shape[0];
  return make(dtype, std::move(shape), Constant::Product{std::move(of), std::move(factors)});
}

ConstantRef pack(ConstantRef of, int64_t panel, int64_t group) {
  TENON_ASSERT(panel > 0 && group > 0 && of->shape.size() >= 2 && bits_of(of->dtype) >= 8);
  DType dtype = of->dtype;
  Sizes shape = of->shape;
  int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  shape[shape.size() - 2] = ceil_div(columns, panel);
  shape.back() = ceil_div(rows, group);
  shape.push_back(panel);
  if (group > 1) shape.push_back(group);
  return make(dtype, std::move(shape), Constant::Pack{std::move(of), panel, group});
}

ConstantRef decoded(Tensor codes, const BlockFormat& format, Sizes shape) {
  TENON_ASSERT(format.decode && codes.dtype() == DType::u8 &&
               checked_count(shape).value_or(-1) * format.bytes == codes.count() * format.elements);
  return make(DType::f32, std::move(shape), Constant::Blocks{std::move(codes), &format});
}

static bool same_step(const Constant& a, const Constant& b) {
  if (a.how.index() != b.how.index()) return false;
  if (auto* x = std::get_if<Constant::Slice>(&a.how)) {
    auto& y = std::get<Constant::Slice>(b.how);
    return x->axis == y.axis && x->begin == y.begin && x->end == y.end && x->step == y.step && same(*x->of, *y.of);
  }
  if (auto* x = std::get_if<Constant::Permute>(&a.how)) {
    auto& y = std::get<Constant::Permute>(b.how);
    return x->order == y.order && same(*x->of, *y.of);
  }
  if (auto* x = std::get_if<Constant::Reshape>(&a.how)) return same(*x->of, *std::get<Constant::Reshape>(b.how).of);
  if (auto* x = std::get_if<Constant::Concat>(&a.how)) {
    auto& y = std::get<Constant::Concat>(b.how);
    return x->axis == y.axis && std::ranges::equal(x->of, y.of, [](auto& p, auto& q) { return same(*p, *q); });
  }
  if (auto* x = std::get_if<Constant::Cast>(&a.how)) return same(*x->of, *std::get<Constant::Cast>(b.how).of);
  if (auto* x = std::get_if<Constant::Scale>(&a.how)) {
    auto& y = std::get<Constant::Scale>(b.how);
    return x->axis == y.axis && x->divide == y.divide && same(*x->of, *y.of) && same(*x->factors, *y.factors);
  }
  if (auto* x = std::get_if<Constant::Product>(&a.how)) {
    auto& y = std::get<Constant::Product>(b.how);
    return same(*x->of, *y.of) && same(*x->factors, *y.factors);
  }
  if (auto* x = std::get_if<Constant::Pack>(&a.how)) {
    auto& y = std::get<Constant::Pack>(b.how);
    return x->panel == y.panel && x->group == y.group && same(*x->of, *y.of);
  }
  if (auto* x = std::get_if<Constant::Blocks>(&a.how)) {
    auto& y = std::get<Constant::Blocks>(b.how);
    return x->format == y.format && same(x->codes, y.codes);
  }
  return std::get<Constant::Reference>(a.how) == std::get<Constant::Reference>(b.how);
}

bool same(const Constant& a, const Constant& b) {
  if (&a == &b) return true;
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  if (a.is_plain() && b.is_plain()) return same(std::get<Tensor>(a.how), std::get<Tensor>(b.how));
  if (!a.is_plain() && same_step(a, b)) return true;
  constexpr int64_t kComputeLimit = 65536;  // small ones are worth computing to find out
  if (a.byte_size() > kComputeLimit || a.unread() || b.unread()) return false;
  Result<Tensor> x = materialise(a), y = materialise(b);
  return x && y && same(*x, *y);
}

}  // namespace tenon::ir
