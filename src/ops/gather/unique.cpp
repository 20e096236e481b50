// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/infer/axes.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_unique {

namespace {

template <class T>
int compare(T a, T b) {
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

/// Less-than, with NaN greater than all numbers.
int compare_numbers(double a, double b) { return std::isnan(a) || std::isnan(b) ? compare(std::isnan(a), std::isnan(b)) : compare(a, b); }

/// Compares strings by bytes, complex numbers by real, then by imaginary parts.
int compare_elements(const Tensor& x, int64_t i, int64_t j) {
  if (x.dtype() == DType::string) return x.strings()[static_cast<size_t>(i)].compare(x.strings()[static_cast<size_t>(j)]);
  if (x.dtype() == DType::u64) return compare(static_cast<uint64_t>(x.integer(i)), static_cast<uint64_t>(x.integer(j)));
  if (!is_float(x.dtype()) && !is_complex(x.dtype())) return compare(x.integer(i), x.integer(j));
  const int real = compare_numbers(x.number(i), x.number(j));
  return real != 0 || is_float(x.dtype()) ? real : compare_numbers(imaginary(x, i), imaginary(x, j));
}

/// Rows of `x` along `axis` (elements, where it was flattened), compared by value.
struct Rows {
  const Tensor& x;
  int64_t outer, size, inner;
  int64_t at(int64_t row, int64_t k) const { return (k / inner * size + row) * inner + k % inner; }
  int compare(int64_t a, int64_t b) const {
    for (int64_t k = 0; k < outer * inner; ++k)
      if (const int order = compare_elements(x, at(a, k), at(b, k)); order != 0) return order;
    return 0;
  }
};

Result<void> infer_unique(NodeView& view) {
  const Dim found = view.symbols->fresh();
  Type values(dtype_of(view, 0)), inverse(DType::i64);
  if (!view.attributes->has("axis")) {
    values.shape = DimList{found};
    inverse.shape = DimList{ranks_known(view, {0}) ? view.type(0).count() : view.symbols->fresh()};
  } else if (ranks_known(view, {0})) {
    const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0)));
    values.shape = view.type(0).shape;
    inverse.shape = DimList{view.type(0).dim(axis)};
    (*values.shape)[static_cast<size_t>(axis)] = found;
  }
  set_output(view, 0, std::move(values));
  set_output(view, 1, Type(DType::i64, {found}));
  set_output(view, 2, std::move(inverse));
  set_output(view, 3, Type(DType::i64, {found}));
  return {};
}

Result<void> reference_of_unique(Call& call) {
  const bool flat = !call.view.attributes->has("axis");
  const Tensor x = flat ? call.in[0]->reshaped({call.in[0]->count()}) : *call.in[0];
  const size_t axis = flat ? 0 : static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("axis", 0), x.rank())));
  Rows rows{x, 1, x.shape()[axis], 1};
  for (size_t d = 0; d < x.shape().size(); ++d) (d < axis ? rows.outer : rows.inner) *= d == axis ? 1 : x.shape()[d];
  const size_t n = static_cast<size_t>(rows.size);
  std::vector<int64_t> order(n), group(n), first, counts;
  for (size_t i = 0; i < n; ++i) order[i] = static_cast<int64_t>(i);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const int c = rows.compare(a, b);
    return c < 0 || (c == 0 && a < b);
  });
  for (size_t i = 0; i < n; ++i) {
    if (i == 0 || rows.compare(order[i - 1], order[i]) != 0) {
      first.push_back(order[i]);
      counts.push_back(0);
    }
    group[static_cast<size_t>(order[i])] = static_cast<int64_t>(first.size()) - 1;
    ++counts.back();
  }
  std::vector<int64_t> rank(first.size());  // place of each group in the result
  for (size_t g = 0; g < rank.size(); ++g) rank[g] = static_cast<int64_t>(g);
  if (call.view.attributes->integer("sorted", 1) == 0)
    std::sort(rank.begin(), rank.end(),
              [&](int64_t a, int64_t b) { return first[static_cast<size_t>(a)] < first[static_cast<size_t>(b)]; });
  std::vector<int64_t> place(rank.size());
  for (size_t p = 0; p < rank.size(); ++p) place[static_cast<size_t>(rank[p])] = static_cast<int64_t>(p);
  Sizes shape = x.shape();
  shape[axis] = static_cast<int64_t>(first.size());
  const Sizes strides = strides_of(x.shape());
  TRY(gather_elements(call, x, shape, [&](const Sizes& at) {
    Sizes from = at;
    from[axis] = first[static_cast<size_t>(rank[static_cast<size_t>(at[axis])])];
    return offset_of(from, strides);
  }));
  const int64_t found = static_cast<int64_t>(first.size());
  for (size_t k = 1; k < call.out.size() && k < 4; ++k) {
    Tensor* out = TRY(call.make(k, {k == 2 ? rows.size : found}));
    for (int64_t i = 0; i < out->count(); ++i) {
      const size_t at = static_cast<size_t>(i);
      out->set_integer(i, k == 2 ? place[static_cast<size_t>(group[at])] : (k == 1 ? first : counts)[static_cast<size_t>(rank[at])]);
    }
  }
  return {};
}

}  // namespace

OP(unique) {
    .name = "Unique",
    .since_version = 28,
    .inputs = {{"x"}},
    .outputs = {{"y", "indices?", "inverse_indices?", "counts?"}},
    .attributes = {{"axis: int", "sorted: int = 1"}},
    .keeps_elements = true,
    .infer = infer_unique,
    .reference = reference_of_unique,
    .first_opset = 11,
    .samples = {{"f32[6] = [2, 1, 1, 3, 4, 3]; outputs=4", "f32[6] = [2, 1, 1, 3, 4, 3]; sorted=0, outputs=4",
                 "i64[3,2] = [1, 0, 1, 0, 2, 3]; axis=0, outputs=4", "f64[2,2] in 0..1; axis=-1, outputs=2", "u8[0]"}},
};

}  // namespace tenon::ops::op_unique
