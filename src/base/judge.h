// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/tensor.h"

namespace tenon::inline base {

/// How much an element of this dtype may differ from the fp64 reference:
/// relative * |reference| + absolute * max(1, |reference|, the largest |reference| of the tensor that is no mask's fill).
/// The numbers are those of torch's own kernel tests; the largest element replaces the forward-error bound of a sum, which grows
/// with its terms and not with what is left of them. Integers and bools: no difference.
struct Tolerance {
  double relative = 0, absolute = 0;
};
Tolerance tolerance_of(DType dtype);

/// The difference of a tensor from the reference.
struct Distance {
  double largest = 0;   ///< absolute difference; infinity where NaN or infinity are at different places, or the shapes differ
  int64_t at = -1;      ///< row-major index of the element with the largest ratio of difference to tolerance; -1 where all are equal
  double of_bound = 0;  ///< difference of that element divided by its tolerance
  double bound = 0;     ///< the tolerance of an element whose reference is 0; floats only
  int64_t beyond = 0;   ///< how many elements exceed their tolerance
  std::string found;    ///< the element at `at` ("[0,3] is 1.25, reference 1"), or the types that differ
};
/// Of a sequence or an optional: that of the tensor in it that is furthest beyond its bound.
/// reference: the same shape; floats as fp64. What overflows the dtype of `tensor` counts as infinite.
/// least: floats may differ so much at least, whatever their dtype is.
Distance distance(const Tensor& tensor, const Tensor& reference, const Tolerance& least = {});

/// Whether a result is acceptable: within the bound, or no further off than twice what another engine's result is from the same reference.
bool is_good(const Distance& ours, const std::optional<Distance>& other = {});

/// Beyond the bound, and further off than `rounding` explains: what rounding each node's result alone does to this value, times 32 for the
/// sums inside the nodes, which are rounded too.
bool is_bad(const Distance& distance, double rounding);
/// `rounding`, from what rounding does to the value, and what it does where it is nudged: then other decisions fall, which count 4 times,
/// since they do not add up.
double rounding_with_decisions(double rounding, double nudged);
/// The distance is no more than what other decisions make, and those make more than amplified rounding does: the network decides (rounds to
/// integers, as quantized ones do), and its results are known up to that.
bool is_decided(const Distance& distance, double rounding, double nudged);

}  // namespace tenon::inline base
