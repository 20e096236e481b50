// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/grouped_cache.h"

#include "ops/definition/plain_ops.h"
#include "ops/infer/types.h"

namespace tenon::ops {

using ir::ValueId;

GroupedCache::GroupedCache(ir::Builder& build, ValueId fresh, ValueId past, ValueId last, ValueId total) : build_(build) {
  const ValueId added = size_of(build, fresh, 1), capacity = size_of(build, past, 2), one = build.scalar(DType::i64, 1);
  const ValueId zero = build.scalar(DType::i64, 0);
  const ValueId before = build("Sub", {build("Add", {last, one}), added});
  offset_ = build("Where", {build("Equal", {added, total}), zero, before});
  size_ = build("Max", {capacity, total});
  const ValueId positions = iota(build, size_);
  const ValueId from_fresh = build("Sub", {build("Unsqueeze", {positions, build.ints({0})}), offset_});
  const ValueId is_fresh = build("And", {build("GreaterOrEqual", {from_fresh, zero}), build("Less", {from_fresh, added})});
  const ValueId is_past = build("Less", {from_fresh, zero});
  const ValueId end = build("Sub", {build("Add", {capacity, added}), one});
  const ValueId source = build("Where", {is_fresh, build("Add", {capacity, from_fresh}), build("Min", {positions, end})});
  source_ = build("Unsqueeze", {source, build.ints({2})});
  filled_ = build("Unsqueeze", {build("Or", {is_fresh, is_past}), build.ints({1, 3})});
}

ValueId GroupedCache::joined(ValueId past, ValueId fresh) const {
  const ValueId all = build_("Concat", {past, fresh}, {{"axis", int64_t{2}}});
  const ValueId rows = build_("Transpose", {all}, {{"perm", Ints{0, 2, 1, 3}}});
  const ValueId taken = build_("GatherND", {rows, source_}, {{"batch_dims", int64_t{1}}});
  const ValueId back = build_("Transpose", {taken}, {{"perm", Ints{0, 2, 1, 3}}});
  return build_("Where", {filled_, back, scalar_like(build_, back, 0)});
}

}  // namespace tenon::ops
