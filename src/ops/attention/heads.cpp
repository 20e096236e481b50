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

ir::ValueId heads_repeated(ir::Builder& build, ir::ValueId x, Dim heads, Dim size, int64_t times) {
  const ir::ValueId spread = build("Expand", {build("Unsqueeze", {x, build.ints({2})}), build.ints({1, 1, times, 1, 1})});
  const Dim all = heads * Dim(times);
  if (all.number() > 0 && size.number() > 0) return build("Reshape", {spread, build.ints({0, all.value(), -1, size.value()})});
  const auto part = [&](int64_t start, int64_t end) { return build("Shape", {x}, {{"start", start}, {"end", end}}); };
  const ir::ValueId repeated = build("Mul", {part(1, 2), build.ints({times})});
  return build("Reshape", {spread, build("Concat", {part(0, 1), repeated, part(2, 4)}, {{"axis", int64_t{0}}})},
               {{"allowzero", int64_t{1}}});
}

}  // namespace tenon::ops
