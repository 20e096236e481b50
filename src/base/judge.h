// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/tensor.h"

namespace tenon::inline base {

/// How much an element may differ from the fp64 reference:
/// relative * |reference| + absolute * max(1, |reference|, M), M: the largest |reference| in the tensor, without fill values of masks.
/// The numbers are those of torch's own kernel tests. M stands in for the forward-error bound of a sum, which depends on the magnitude of
/// the terms and not on that of the sum. Integers and bools must be equal.
struct Tolerance {
  double relative = 0, absolute = 0;
};
/// The tolerance of results of this dtype.
Tolerance tolerance_of(DType dtype);

/// The difference of a tensor from the reference.
struct Distance {
  double largest = 0;      ///< absolute difference; infinity where NaN or infinity are at different places, or the shapes differ
  int64_t at = -1;         ///< row-major index of the element with the largest ratio of difference to tolerance; -1 where all are equal
  double bound_ratio = 0;  ///< of the element `at`: its difference divided by its tolerance; above 1: it exceeds the tolerance
  double bound = 0;        ///< the tolerance of an element whose reference is 0; floats only
  int64_t exceeding = 0;   ///< number of elements that exceed their tolerance
  std::string found;       ///< the element at `at` ("[0,3] is 1.25, reference 1"), or the types that differ
};
/// The difference of a tensor; of a sequence or an optional that of the tensor in it with the largest bound_ratio.
/// reference: the same shape; floats as fp64. Reference values that overflow the dtype of `tensor` count as infinite.
/// least: the least tolerance of floats, whatever their dtype is.
Distance distance(const Tensor& tensor, const Tensor& reference, const Tolerance& least = {});

/// Whether a result is acceptable: within its tolerance, or at most twice as far from the reference as another engine's result.
bool is_good(const Distance& ours, const std::optional<Distance>& other = {});

/// Whether a result exceeds its tolerance and also 32 times `rounding`: the difference that rounding each node's result causes. The factor
/// allows for roundings inside of nodes (sums).
bool is_bad(const Distance& distance, double rounding);
/// The argument `rounding` of is_bad(), for networks with discrete decisions (rounding to integers, comparisons). rounding: difference that
/// rounding causes; perturbed: difference where roundings are also perturbed, so that some decisions change. The latter counts 4 times, not
/// 32: differences by decisions do not add up.
double rounding_with_decisions(double rounding, double perturbed);
/// Whether changed decisions (`perturbed`, as above) explain the distance, and cause larger differences than amplified rounding: the
/// network rounds to integers, as quantized ones do, and its results are determined only up to that.
bool is_explained_by_decisions(const Distance& distance, double rounding, double perturbed);

}  // namespace tenon::inline base
