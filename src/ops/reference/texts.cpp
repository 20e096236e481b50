// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/texts.h"

#include "ops/reference/indices.h"

namespace tenon::ops {

Result<void> each_text_pair(Call& call,
                            const std::function<void(Tensor& result, int64_t i, const std::string& a, const std::string& b)>& visit) {
  const Tensor &a = *call.in[0], &b = *call.in[1];
  const Sizes shape = TRY(broadcast_sizes(call.view, a.shape(), b.shape()));
  const Sizes a_strides = broadcast_strides(a.shape(), shape), b_strides = broadcast_strides(b.shape(), shape);
  Tensor& y = *TRY(call.make(0, shape));
  for (int64_t i = 0; i < y.count(); ++i) {
    const Sizes at = index_of(i, shape);
    visit(y, i, a.strings()[static_cast<size_t>(offset_of(at, a_strides))], b.strings()[static_cast<size_t>(offset_of(at, b_strides))]);
  }
  return {};
}

}  // namespace tenon::ops
