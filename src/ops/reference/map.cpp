// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/map.h"
#include "base/scalar.h"

#include <algorithm>
#include <cstring>

namespace tenon::ops {

Sizes strides_of(const Sizes& shape) {
  Sizes out(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * shape[i];
  return out;
}

int64_t count_of(const Sizes& shape) {
  auto n = checked_count(shape);
  TENON_ASSERT(n.has_value());
  return *n;
}

int64_t offset_of(const Sizes& index, const Sizes& strides) {
  int64_t at = 0;
  for (size_t i = 0; i < index.size(); ++i) at += index[i] * strides[i];
  return at;
}

Sizes index_of(int64_t position, const Sizes& shape) {
  Sizes out(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    out[i] = position % shape[i];
    position /= shape[i];
  }
  return out;
}

bool next_index(Sizes& index, const Sizes& shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

Result<Sizes> broadcast_sizes(const NodeView& view, const Sizes& a, const Sizes& b) {
  Sizes out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i + a.size() < out.size() ? 1 : a[i + a.size() - out.size()];
    const int64_t y = i + b.size() < out.size() ? 1 : b[i + b.size() - out.size()];
    if (x != y && x != 1 && y != 1) {
      return refuse(view, Code::shape_mismatch, "operands cannot be broadcast together")
          .expected("sizes equal or 1")
          .found(std::to_string(x) + " and " + std::to_string(y));
    }
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Sizes broadcast_strides(const Sizes& from, const Sizes& to) {
  Sizes out(to.size(), 0);
  const Sizes strides = strides_of(from);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) out[i + to.size() - from.size()] = strides[i];
  }
  return out;
}

bool wrap_axis(int64_t& axis, int64_t rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank;
}

Result<int64_t> wrap_index(const NodeView& view, int64_t index, int64_t size) {
  if (index >= -size && index < size) return index < 0 ? index + size : index;
  return refuse(view, Code::index_out_of_range, "an index is out of range")
      .expected(std::to_string(-size) + " to " + std::to_string(size - 1))
      .found(std::to_string(index));
}

Ints ints_of(const Call& call, size_t input) { return call.has(input) ? integers_of(*call.in[input]) : Ints(); }

int64_t int_of(const Call& call, size_t input, int64_t otherwise) {
  return call.has(input) && call.in[input]->count() > 0 ? call.in[input]->integer(0) : otherwise;
}

double number_of(const Call& call, size_t input, double otherwise) {
  return call.has(input) && call.in[input]->count() > 0 ? call.in[input]->number(0) : otherwise;
}

std::optional<Ints> ints_of(const Call& call, std::string_view attribute, size_t input) {
  if (const ir::Attribute* a = call.view.attributes->find(attribute)) {
    if (const Ints* many = std::get_if<Ints>(a)) return *many;
    if (const int64_t* one = std::get_if<int64_t>(a)) return Ints{*one};
  }
  if (call.has(input)) return integers_of(*call.in[input]);
  return std::nullopt;
}

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

Result<Elements> combined(Call& call, const Elements& a, const Elements& b, const Binary& number, const IntBinary& integer,
                          const UnsignedBinary& natural) {
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
  const bool unsigned_road = a.dtype == DType::u64 && natural;
  if (!integer && !unsigned_road) return std::unexpected(no_such_kind(call, a.dtype).error());
  out.integers.resize(n);
  walk(out.shape, a.shape, b.shape, [&](int64_t i, int64_t j, int64_t k) {
    const int64_t x = a.integers[static_cast<size_t>(j)], y = b.integers[static_cast<size_t>(k)];
    out.integers[static_cast<size_t>(i)] =
        unsigned_road ? static_cast<int64_t>(natural(static_cast<uint64_t>(x), static_cast<uint64_t>(y))) : integer(x, y);
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

Result<void> each(Call& call, const Unary& number, const IntUnary& integer) {
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

Result<void> each(Call& call, const Binary& number, const IntBinary& integer, const UnsignedBinary& natural) {
  return store(call, TRY(combined(call, elements_of(*call.in[0]), elements_of(*call.in[1]), number, integer, natural)));
}

Result<void> fold(Call& call, const Binary& number, const IntBinary& integer, const UnsignedBinary& natural,
                  const std::function<double(double, size_t)>& finish) {
  Elements e = elements_of(*call.in[0]);
  for (size_t i = 1; i < call.in.size(); ++i) e = TRY(combined(call, e, elements_of(*call.in[i]), number, integer, natural));
  if (finish) {
    for (double& v : e.numbers) v = finish(v, call.in.size());
  }
  return store(call, e);
}

void copy_element(Tensor& to, int64_t i, const Tensor& from, int64_t j) {
  TENON_ASSERT(to.dtype() == from.dtype());
  if (to.dtype() == DType::string) {
    to.mutable_strings()[static_cast<size_t>(i)] = from.strings()[static_cast<size_t>(j)];
    return;
  }
  const int bits = bits_of(to.dtype());
  if (bits < 8) {
    if (is_float(to.dtype())) to.set_number(i, from.number(j));
    else to.set_integer(i, from.integer(j));
    return;
  }
  const size_t bytes = static_cast<size_t>(bits / 8);
  std::memcpy(to.mutable_data() + static_cast<size_t>(i) * bytes, from.data() + static_cast<size_t>(j) * bytes, bytes);
}

void scatter_element(Tensor& to, int64_t i, const Tensor& from, int64_t j, std::string_view how) {
  if (how == "none") return copy_element(to, i, from, j);
  if (is_float(to.dtype())) {
    const double a = to.number(i), b = from.number(j);
    to.set_number(i, how == "add" ? a + b : how == "mul" ? a * b : how == "min" ? minimum(a, b) : maximum(a, b));
  } else {
    const int64_t a = to.integer(i), b = from.integer(j);
    to.set_integer(i, how == "add" ? wrap_add(a, b) : how == "mul" ? wrap_mul(a, b) : how == "min" ? std::min(a, b) : std::max(a, b));
  }
}

Result<Tensor> converted(const Tensor& from, DType dtype) {
  if (from.dtype() == dtype) return from;
  Tensor out = TRY(Tensor::make(dtype, from.shape()));
  if (is_float(from.dtype())) store_numbers(out, numbers_of(from));
  else store_integers(out, integers_of(from));
  return out;
}

Result<void> gather_elements(Call& call, const Tensor& from, Sizes shape, const std::function<int64_t(const Sizes& index)>& source,
                             size_t result) {
  Tensor* out = TRY(call.make(result, shape));
  if (out->count() == 0) return {};
  Sizes at(shape.size(), 0);
  int64_t i = 0;
  do {
    const int64_t j = source(at);
    if (j >= 0) copy_element(*out, i, from, j);
    ++i;
  } while (next_index(at, shape));
  return {};
}

}  // namespace tenon::ops
