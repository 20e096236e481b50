// SPDX-License-Identifier: Apache-2.0
#include "backend/trial_weights.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "backend/zeros.h"

namespace tenon::backend {

Result<TrialWeights> trial_weights(std::span<const ir::ConstantRef> constants, int64_t most) {
  const Zeros zeros = TRY(Zeros::make(constants));
  TrialWeights out{.tensors = {zeros.tensors().begin(), zeros.tensors().end()}};
  std::vector<size_t> order(constants.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t k) { return std::pair(constants[k]->byte_size(), k); });
  int64_t left = most;
  for (const size_t k : order) {
    left -= constants[k]->byte_size();
    if (left < 0) {
      out.complete = false;
      break;
    }
    out.tensors[k] = TRY(ir::materialise(*constants[k]));
  }
  return out;
}

}  // namespace tenon::backend
