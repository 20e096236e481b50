// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/scores_kernel.h"

namespace tenon::ops {

Result<void> ScoresKernel::run(std::span<const Tensor* const> in, std::vector<Tensor>& out) const {
  const Tensor& x = *in[0];
  Tensor y = TRY(Tensor::make(dtype, {x.rank() == 1 ? 1 : x.shape()[0], targets}));
  TRY(forest.run(x, [&](int64_t n, std::span<double> scores) {
    for (size_t t = 0; t < base.size(); ++t) scores[t] += base[t];
    transform(how, scores);
    for (int64_t t = 0; t < targets; ++t) y.set_number(n * targets + t, scores[static_cast<size_t>(t)]);
  }));
  out[0] = std::move(y);
  return {};
}

}  // namespace tenon::ops
