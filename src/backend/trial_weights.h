// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "base/tensor.h"
#include "ir/constant.h"

namespace tenon::backend {

/// Weights for a trial initialisation of a segment when it is built.
struct TrialWeights {
  std::vector<Tensor> tensors;
  bool complete = true;  ///< all tensors have the bytes of their constants; false: some are zeros
};

/// The bytes of `constants`, the smallest first, as long as they take at most `most` bytes in all; the others are zeros, which take no
/// memory. Runtimes choose by values (scales, zero points) what they rewrite, so a trial with zeros alone may succeed where the real
/// weights fail. Errors: out_of_memory; those of ir::materialise. Cost: constants that are computed are computed once more.
Result<TrialWeights> trial_weights(std::span<const ir::ConstantRef> constants, int64_t most = int64_t{256} << 20);

}  // namespace tenon::backend
