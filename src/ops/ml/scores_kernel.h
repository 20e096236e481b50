// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "ops/ml/flat_forest.h"

namespace tenon::ops {

/// Trees whose scores, with base values added and transformed, are the result [samples, targets]: TreeEnsemble and TreeEnsembleRegressor.
struct ScoresKernel final : HostKernel {
  FlatForest forest;
  std::vector<double> base;  ///< one a target, or none
  PostTransform how = PostTransform::none;
  int64_t targets = 1;
  DType dtype = DType::f32;  ///< of the result

  Result<void> run(std::span<const Tensor* const> in, std::vector<Tensor>& out) const override;
};

}  // namespace tenon::ops
