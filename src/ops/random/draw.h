// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Uniform numbers in [0, 1) from attribute `seed` (a float), or from a fixed seed where it is missing.
class Draw {
 public:
  explicit Draw(const NodeView& view);
  double uniform();
  double normal();  ///< mean 0, deviation 1 (Box and Muller)

 private:
  uint64_t state_;
};
/// Result 0 from attributes `shape` and `dtype` (default f32).
Result<void> infer_random(NodeView& view);
/// Result 0 like operand 0, `dtype` overrides.
Result<void> infer_random_like(NodeView& view);
/// Fills result 0 of that shape.
Result<void> fill_random(Call& call, Sizes shape, const std::function<double(Draw&)>& next);

}  // namespace tenon::ops
