// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/checked.h"
#include "ops/infer/infer.h"

namespace tenon::ops {

/// Row-major strides in elements.
Sizes strides_of(const Sizes& shape);
int64_t count_of(const Sizes& shape);
/// Position of `index` in a row-major tensor.
int64_t offset_of(const Sizes& index, const Sizes& strides);
/// Indices of a row-major position.
Sizes index_of(int64_t position, const Sizes& shape);
/// Adds one to the last index, carrying; false after the last one. Start from all zeros and only where count_of(shape) > 0.
bool next_index(Sizes& index, const Sizes& shape);
/// numpy broadcasting of real shapes. Errors: shape_mismatch.
Result<Sizes> broadcast_sizes(const NodeView& view, const Sizes& a, const Sizes& b);
/// Strides with which a tensor of shape `from` is read in the index space `to`: 0 where it is broadcast.
Sizes broadcast_strides(const Sizes& from, const Sizes& to);
/// -rank..rank-1 to 0..rank-1; false where it lies outside.
bool wrap_axis(int64_t& axis, int64_t rank);
/// -size..size-1 to 0..size-1. Errors: index_out_of_range.
Result<int64_t> wrap_index(const NodeView& view, int64_t index, int64_t size);

/// Integer elements of an operand, empty where it is missing.
Ints ints_of(const Call& call, size_t input);
/// The only element of an operand, or `otherwise` where it is missing.
int64_t int_of(const Call& call, size_t input, int64_t otherwise);
double number_of(const Call& call, size_t input, double otherwise);
/// Attribute `name`, else the elements of operand `input`, else nothing.
std::optional<Ints> ints_of(const Call& call, std::string_view attribute, size_t input);

using Unary = std::function<double(double)>;
using IntUnary = std::function<int64_t(int64_t)>;
using Binary = std::function<double(double, double)>;
using IntBinary = std::function<int64_t(int64_t, int64_t)>;
using UnsignedBinary = std::function<uint64_t(uint64_t, uint64_t)>;

/// Result 0 element by element: doubles for floats, int64 for integers and bool (wrapped to the dtype when stored).
/// What it reads as decides. A null function means that this kind of dtype is refused with not_supported.
Result<void> each(Call& call, const Unary& number, const IntUnary& integer = {});
/// The same over broadcast operands 0 and 1; u64 goes through `natural` where it is given, else through `integer`
/// (right for everything that wraps).
Result<void> each(Call& call, const Binary& number, const IntBinary& integer = {}, const UnsignedBinary& natural = {});
/// Folds all operands, broadcast, from the left; `finish` gets the result and the number of operands.
Result<void> fold(Call& call, const Binary& number, const IntBinary& integer = {}, const UnsignedBinary& natural = {},
                  const std::function<double(double, size_t)>& finish = {});
/// `.reference = unary_reference<[](double x) { return std::exp(x); }>`
template <auto number>
Result<void> unary_reference(Call& call) {
  return each(call, Unary(number));
}
template <auto number, auto integer>
Result<void> number_reference(Call& call) {
  return each(call, Unary(number), IntUnary(integer));
}

/// Copies elements whatever their dtype is (strings too): `to[i] = from[j]`. Dtypes must be equal.
void copy_element(Tensor& to, int64_t i, const Tensor& from, int64_t j);
/// to[i] = from[j], or to[i] combined with from[j] by "add", "mul", "min" or "max".
void scatter_element(Tensor& to, int64_t i, const Tensor& from, int64_t j, std::string_view how);
/// A copy of the bytes with another dtype; the value is kept and rounded.
Result<Tensor> converted(const Tensor& from, DType dtype);
/// Result 0 [i] = from[source(i)] over the result's shape; a negative source leaves zero.
Result<void> gather_elements(Call& call, const Tensor& from, Sizes shape, const std::function<int64_t(const Sizes& index)>& source,
                             size_t result = 0);
/// Wrapping arithmetic, so that a reference has no undefined behaviour.
inline int64_t wrap_add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
inline int64_t wrap_sub(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
inline int64_t wrap_mul(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }

}  // namespace tenon::ops
