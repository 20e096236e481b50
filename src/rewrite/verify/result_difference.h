// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "rewrite/rule.h"

namespace tenon::rewrite {

/// Where two results are not what the rule's numerics class lets them be.
struct Difference {
  size_t output = 0;
  int64_t at = -1;  ///< row-major; -1: dtype or shape
  std::string expected, found;
};

/// What the old side gives: as it is (every node rounds to its dtype), in fp64 from end to end, and how far each element of the second
/// moves through rounding.
struct ReferenceResult {
  Tensor own, wide;
  std::vector<double> error;  ///< for each element; filled by `blame`
  double largest = 0;         ///< magnitude inside the old side, in fp64: what is far smaller may be lost in a sum there, even in fp64
};
/// Widens `error` by how far `other` (the old side with rounding, on the same or on nudged inputs) is from the wide result.
void blame(ReferenceResult& expected, const Tensor& other);

/// exact: bit for bit; every NaN is like every other. Integers, bools and strings: always.
std::optional<Difference> differ_in_bits(const Tensor& old, const Tensor& fresh);

/// NaN and infinities are at the same places, sign included. What is finite on the old side is not looked at.
std::optional<Difference> differ_in_places(const Tensor& old, const Tensor& fresh);

/// reassociating: where the old side is finite, the new one is finite and no further from the wide result than 16 times
///   error of the element + mean error of its tensor + half a step of `coarsest` at the element, plus 16 of the dtype's smallest number and
///   of half a step of fp64 at `largest`.
/// approximate: that, and 0.02 of the element and of the mean magnitude of its tensor.
std::optional<Difference> differ_in_size(const ReferenceResult& old, const Tensor& fresh, Numerics numerics, double coarsest);

}  // namespace tenon::rewrite
