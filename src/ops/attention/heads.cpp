// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/heads.h"

#include "ops/definition/plain_ops.h"
#include "ops/infer/types.h"

namespace tenon::ops {

ir::ValueId padding_scores(ir::Builder& build, ir::ValueId mask, const NodeView& view, size_t k, DType dtype, double filter) {
  const ir::ValueId seen = build("Greater", {mask, build.scalar(view.type(k).dtype, 0)});
  const ir::ValueId score = build("Where", {seen, build.scalar(dtype, 0), build.scalar(dtype, filter)});
  return build("Unsqueeze", {score, build.ints(view.rank(k) == 2 ? Ints{1, 2} : Ints{1})});
}

namespace {

/// How many lists of `batch` numbers are read at the start of the mask: 1 (ends), 2 (ends and starts), or 0 where its
/// size is not known to be one of those that length_scores takes.
int lists_of(const NodeView& view, size_t k) {
  const Dim size = view.type(k).dim(0), batch = view.type(0).dim(0);
  if (size.known_equal(batch) || size.known_equal(batch * Dim(3) + Dim(2))) return 1;
  return size.known_equal(batch * Dim(2)) ? 2 : 0;
}

}  // namespace

bool counts_keys(const NodeView& view, size_t k) { return lists_of(view, k) > 0; }

ir::ValueId length_scores(ir::Builder& build, ir::ValueId mask, const NodeView& view, size_t k, ir::ValueId batch, ir::ValueId keys,
                          DType dtype, double filter) {
  const int lists = lists_of(view, k);
  if (lists == 0) return {};
  const ir::ValueId numbers = cast_to(build, mask, DType::i64);
  const auto list = [&](int number) {  // [batch, 1]
    const auto edge = [&](int times) {
      return build("Unsqueeze", {build("Mul", {batch, build.scalar(DType::i64, times)}), build.ints({0})});
    };
    const bool all = view.type(k).dim(0).known_equal(view.type(0).dim(0));
    const ir::ValueId part = all ? numbers : build("Slice", {numbers, edge(number), edge(number + 1), build.ints({0})});
    return build("Reshape", {part, build.ints({-1, 1})});
  };
  const ir::ValueId positions = iota(build, keys);
  ir::ValueId seen = build("Less", {positions, list(0)});
  if (lists > 1) seen = build("And", {seen, build("GreaterOrEqual", {positions, list(1)})});
  return build("Unsqueeze", {build("Where", {seen, build.scalar(dtype, 0), build.scalar(dtype, filter)}), build.ints({1, 2})});
}

ir::ValueId split_heads(ir::Builder& build, ir::ValueId x, int64_t heads) {
  return build("Transpose", {build("Reshape", {x, build.ints({0, 0, heads, -1})})}, {{"perm", Ints{0, 2, 1, 3}}});
}

ir::ValueId merge_heads(ir::Builder& build, ir::ValueId x) {
  return build("Reshape", {build("Transpose", {x}, {{"perm", Ints{0, 2, 1, 3}}}), build.ints({0, 0, -1})});
}

ir::ValueId repeat_heads(ir::Builder& build, ir::ValueId x, Dim heads, Dim size, int64_t times) {
  const ir::ValueId spread = build("Expand", {build("Unsqueeze", {x, build.ints({2})}), build.ints({1, 1, times, 1, 1})});
  const Dim all = heads * Dim(times);
  if (all.number() > 0 && size.number() > 0) return build("Reshape", {spread, build.ints({0, all.value(), -1, size.value()})});
  const auto part = [&](int64_t start, int64_t end) { return build("Shape", {x}, {{"start", start}, {"end", end}}); };
  const ir::ValueId repeated = build("Mul", {part(1, 2), build.ints({times})});
  return build("Reshape", {spread, build("Concat", {part(0, 1), repeated, part(2, 4)}, {{"axis", int64_t{0}}})},
               {{"allowzero", int64_t{1}}});
}

}  // namespace tenon::ops
