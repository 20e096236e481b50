// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// The random numbers of one evaluation of a node: one block for each element of the result (base/random.h has the layout).
/// With attribute `seed` the node draws from stream 0 of that seed, the same in every run; else from the stream that attribute `stream`
/// numbers, of the run's seed.
class Draws {
 public:
  explicit Draws(const Call& call);
  RandomBlock block(int64_t element) const { return scope_.block(stream_, static_cast<uint64_t>(element)); }
  double uniform(int64_t element) const { return uniform_of(block(element)); }  ///< in [0, 1)
  double normal(int64_t element) const { return normal_of(block(element)); }    ///< mean 0, deviation 1

 private:
  RandomScope scope_;
  uint32_t stream_ = 0;
};

/// Result 0 from attributes `shape` and `dtype` (default f32).
Result<void> infer_random(NodeView& view);
/// Result 0 has the type of operand 0; attribute `dtype` replaces its dtype.
Result<void> infer_random_like(NodeView& view);
/// The dtype that attribute `dtype` names, else `otherwise`. Errors: bad_attribute.
Result<DType> drawn_dtype(const NodeView& view, DType otherwise);
/// Fills result 0 of that shape: element k is next(draws, k).
Result<void> fill_random(Call& call, Sizes shape, const std::function<double(const Draws&, int64_t)>& next);

}  // namespace tenon::ops
