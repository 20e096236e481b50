// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/map.h"

#include "ops/core/refuse.h"

namespace tenon::ops {

namespace {

Result<void> no_such_kind(const Call& call, DType dtype) {
  return refuse(call.view, Code::not_supported, "not supported yet: dtype " + std::string(name_of(dtype)));
}

/// Calls visit(position in the result, position in a, position in b) over a broadcast space.
template <class Visit>
void walk(const Sizes& shape, const Sizes& a, const Sizes& b, Visit visit) {
  const int64_t n = count_of(shape);
  if (n == 0) return;
  if (a == shape && b == shape) {
    for (int64_t i = 0; i < n; ++i) visit(i, i, i);
    return;
  }
  const Sizes sa = broadcast_strides(a, shape), sb = broadcast_strides(b, shape);
  Sizes at(shape.size(), 0);
  for (int64_t i = 0; i < n; ++i) {
    visit(i, offset_of(at, sa), offset_of(at, sb));
    next_index(at, shape);
  }
}

/// Element-wise result in the kind of numbers that the operands have; kept as numbers until it is stored.
struct Elements {
  Sizes shape;
  DType dtype = DType::none;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
};

Elements elements_of(const Tensor& t) {
  Elements e{t.shape(), t.dtype(), {}, {}};
  if (is_float(t.dtype())) e.numbers = numbers_of(t);
  else e.integers = integers_of(t);
  return e;
}

Result<Elements> combined(Call& call, const Elements& a, const Elements& b, const FloatBinary& number, const IntBinary& integer,
                          const UnsignedBinary& on_unsigned) {
  Elements out;
  out.shape = TRY(broadcast_sizes(call.view, a.shape, b.shape));
  out.dtype = a.dtype;
  const size_t n = static_cast<size_t>(count_of(out.shape));
  if (is_float(a.dtype)) {
    if (!number) return std::unexpected(no_such_kind(call, a.dtype).error());
    out.numbers.resize(n);
    walk(out.shape, a.shape, b.shape, [&](int64_t i, int64_t j, int64_t k) {
      out.numbers[static_cast<size_t>(i)] = number(a.numbers[static_cast<size_t>(j)], b.numbers[static_cast<size_t>(k)]);
    });
    return out;
  }
  const bool is_u64 = a.dtype == DType::u64 && on_unsigned;
  if (!integer && !is_u64) return std::unexpected(no_such_kind(call, a.dtype).error());
  out.integers.resize(n);
  walk(out.shape, a.shape, b.shape, [&](int64_t i, int64_t j, int64_t k) {
    const int64_t x = a.integers[static_cast<size_t>(j)], y = b.integers[static_cast<size_t>(k)];
    out.integers[static_cast<size_t>(i)] =
        is_u64 ? static_cast<int64_t>(on_unsigned(static_cast<uint64_t>(x), static_cast<uint64_t>(y))) : integer(x, y);
  });
  return out;
}

Result<void> store(Call& call, const Elements& e) {
  Tensor* out = TRY(call.make(0, e.shape));
  // A comparison of floats gives numbers 0 and 1 for a bool result; both ways of storing round to the dtype.
  if (is_float(e.dtype)) store_numbers(*out, e.numbers);
  else store_integers(*out, e.integers);
  return {};
}

}  // namespace

Result<void> map_elements(Call& call, const FloatUnary& number, const IntUnary& integer) {
  const Tensor& x = *call.in[0];
  Elements e = elements_of(x);
  if (is_float(x.dtype())) {
    if (!number) return no_such_kind(call, x.dtype());
    for (double& v : e.numbers) v = number(v);
  } else {
    if (!integer) return no_such_kind(call, x.dtype());
    for (int64_t& v : e.integers) v = integer(v);
  }
  return store(call, e);
}

Result<void> map_elements(Call& call, const FloatBinary& number, const IntBinary& integer, const UnsignedBinary& on_unsigned) {
  return store(call, TRY(combined(call, elements_of(*call.in[0]), elements_of(*call.in[1]), number, integer, on_unsigned)));
}

Result<void> combine_operands(Call& call, const FloatBinary& number, const IntBinary& integer, const UnsignedBinary& on_unsigned,
                              const std::function<double(double, size_t)>& finish) {
  Elements e = elements_of(*call.in[0]);
  for (size_t i = 1; i < call.in.size(); ++i) e = TRY(combined(call, e, elements_of(*call.in[i]), number, integer, on_unsigned));
  if (finish) {
    for (double& v : e.numbers) v = finish(v, call.in.size());
  }
  return store(call, e);
}

}  // namespace tenon::ops
