// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/activation/biased.h"

#include "ops/infer/elementwise.h"

namespace tenon::ops {

Result<void> infer_biased(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  if (view.has(1)) {
    TRY(require_same_dtype(view, 0, 1));
    TRY(require_rank(view, 1, 1));
    TRY(require_rank(view, 0, 1, -1));
    if (ranks_known(view, {0, 1})) TRY(require_equal(view, view.type(0).dim(-1), view.type(1).dim(0), "columns and numbers of the bias"));
  }
  return infer_same_type(view);
}

}  // namespace tenon::ops
