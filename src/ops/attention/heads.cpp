// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/heads.h"

#include "ops/infer/types.h"

namespace tenon::ops {

ir::ValueId padding_scores(ir::Builder& build, ir::ValueId mask, const NodeView& view, size_t k, DType dtype, double filter) {
  const ir::ValueId seen = build("Greater", {mask, build.scalar(view.type(k).dtype, 0)});
  const ir::ValueId score = build("Where", {seen, build.scalar(dtype, 0), build.scalar(dtype, filter)});
  return build("Unsqueeze", {score, build.ints(view.rank(k) == 2 ? Ints{1, 2} : Ints{1})});
}

ir::ValueId heads_apart(ir::Builder& build, ir::ValueId x, int64_t heads) {
  return build("Transpose", {build("Reshape", {x, build.ints({0, 0, heads, -1})})}, {{"perm", Ints{0, 2, 1, 3}}});
}

ir::ValueId heads_together(ir::Builder& build, ir::ValueId x) {
  return build("Reshape", {build("Transpose", {x}, {{"perm", Ints{0, 2, 1, 3}}}), build.ints({0, 0, -1})});
}

}  // namespace tenon::ops
