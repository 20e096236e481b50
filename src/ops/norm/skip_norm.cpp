// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/skip_norm.h"

#include "ops/infer/broadcast.h"

namespace tenon::ops {

Result<void> infer_skip_norm(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  for (size_t k = 1; k < view.explicit_inputs; ++k)
    if (view.has(k)) TRY(require_same_dtype(view, 0, k));
  Type sum(dtype_of(view, 0)), row(DType::f32);
  if (ranks_known(view, {0, 1})) {
    sum.shape = TRY(broadcast(view, *view.type(0).shape, *view.type(1).shape));
    if (sum.shape->empty()) return refuse(view, Code::rank_mismatch, "a norm needs an axis").found(view.type(0).text());
    for (size_t k = 2; k < view.explicit_inputs; ++k) {
      TRY(require_rank(view, k, 1));
      if (view.has(k) && view.type(k).has_rank())
        TRY(require_equal(view, sum.shape->back(), view.type(k).dim(0), "columns and numbers of a row"));
    }
    row.shape = sum.shape;
    row.shape->back() = 1;
  }
  set_output(view, 0, sum);
  set_output(view, 1, row);
  set_output(view, 2, row);
  set_output(view, 3, std::move(sum));
  return {};
}

}  // namespace tenon::ops
