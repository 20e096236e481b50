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

/// An element, or a type, in which two results differ more than the rule's numerics class allows.
struct Difference {
  size_t output = 0;  ///< index of the result; the functions below, which see one result, leave it 0
  int64_t at = -1;    ///< row-major; -1: dtype or shape
  std::string expected, found;
};

/// A result of the old side, in both modes of the reference evaluator, with an estimate of its rounding error.
struct ReferenceResult {
  Tensor declared;            ///< every node rounds to its dtype
  Tensor wide;                ///< computed in fp64 throughout; what new results are compared with
  std::vector<double> error;  ///< for each element its estimated rounding error, see widen_error
  /// Largest magnitude of a finite result of a node of the old side, in fp64: what is far smaller may be lost in a sum there, even in fp64.
  double largest_intermediate = 0;
};
/// Widens `error` by how far `rounded` (the old side with rounding, on the same or on nudged inputs) is from the wide result.
void widen_error(ReferenceResult& expected, const Tensor& rounded);

/// The first difference in bits, where every NaN equals every other: for exact rules, and for integers, bools and strings of all rules.
std::optional<Difference> differ_in_bits(const Tensor& old, const Tensor& fresh);

/// The first element that is NaN or infinite in the old result and not the same (sign included) in the new one. Finite elements of the old
/// result are not compared.
std::optional<Difference> differ_in_nonfinite(const Tensor& old, const Tensor& fresh);

/// The first element beyond the tolerance of the rule's numerics. reassociating: where the old side is finite, the new one is finite and no
/// further from the wide result than 16 times
///   error of the element + mean error of its tensor + half a step of the old side's coarsest dtype (`coarsest_unit`: at 1) at the element,
///   plus 16 of the dtype's smallest number and of half a step of fp64 at `largest_intermediate`.
/// approximate: that, and 0.02 of the element and of the mean magnitude of its tensor.
std::optional<Difference> differ_beyond_tolerance(const ReferenceResult& old, const Tensor& fresh, Numerics numerics, double coarsest_unit);

}  // namespace tenon::rewrite
