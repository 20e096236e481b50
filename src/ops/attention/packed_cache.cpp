// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/packed_cache.h"

#include "ops/definition/plain_ops.h"

namespace tenon::ops {

using ir::ValueId;

namespace {

ValueId whole(ir::Builder& build, int64_t x) { return build.scalar(DType::i64, static_cast<double>(x)); }

/// x, of rank 1, along `axis` of `rank` axes, the others of size 1.
ValueId along(ir::Builder& build, ValueId x, int64_t axis, int64_t rank) {
  std::vector<int64_t> others;
  for (int64_t a = 0; a < rank; ++a)
    if (a != axis) others.push_back(a);
  return build("Unsqueeze", {x, build.ints(others)});
}

/// Lists of i64 one after the other.
ValueId joined_sizes(ir::Builder& build, std::vector<ValueId> sizes) { return build("Concat", std::move(sizes), {{"axis", int64_t{0}}}); }

}  // namespace

PackedSequences::PackedSequences(ir::Builder& build, ValueId tokens, ValueId lengths, ValueId past)
    : build_(build), place_(iota(build, tokens)), past_(cast_to(build, past, DType::i64)) {
  const ValueId length = cast_to(build, lengths, DType::i64);
  ends_ = build("CumSum", {length, whole(build, 0)});
  const ValueId ended = cast_to(build, build("GreaterOrEqual", {along(build, place_, 0, 2), ends_}), DType::i64);
  number_ = build("ReduceSum", {ended, build.ints({1})}, {{"keepdims", int64_t{0}}});
  if (!past) return;
  end_ = build("Add", {past_, length});
  const ValueId all = build("ReduceSum", {length, build.ints({0})}, {{"keepdims", int64_t{0}}});
  number_ = build("Where", {build("Equal", {all, tokens}), number_, size_of(build, lengths, 0)});
}

ValueId PackedSequences::position() const {
  const ValueId starts = build_("Concat", {build_.ints({0}), ends_}, {{"axis", int64_t{0}}});
  const ValueId new_ones = build_("Sub", {place_, build_("Gather", {starts, number_})});
  return past_ ? build_("Add", {build_("Gather", {past_, number_}), new_ones}) : new_ones;
}

PackedCache::PackedCache(ir::Builder& build, ValueId past, ValueId pages, const PackedSequences& sequences, int64_t heads, int64_t size)
    : build_(build), sequences_(sequences), heads_(heads), size_(size), past_(past), pages_(cast_to(build, pages, DType::i64)) {
  count_ = size_of(build, sequences.end(), 0);
  block_ = keys_ = size_of(build, past, 3);
  if (pages) keys_ = build("Mul", {size_of(build, pages, 1), block_});
}

/// Gather and scatters count negative ones from the end.
ValueId PackedCache::known_or_outside(ValueId index, ValueId size) const {
  return build_("Where", {build_("Less", {index, whole(build_, 0)}), size, index});
}

ValueId PackedCache::page_of(ValueId position) const {
  const ValueId place = build_("Div", {position, block_});
  const ValueId at = build_("Concat", {along(build_, sequences_.number(), 0, 2), along(build_, place, 0, 2)}, {{"axis", int64_t{1}}});
  return known_or_outside(build_("GatherND", {pages_, at}), size_of(build_, past_, 0));
}

ValueId PackedCache::joined(ValueId key, ValueId value) const {
  const ValueId tokens = shape_of(build_, key, 1, 2);
  const ValueId position = known_or_outside(sequences_.position(), keys_);
  const ValueId outer = pages_ ? page_of(position) : sequences_.number();
  const ValueId row = pages_ ? build_("Mod", {position, block_}) : position;
  const ValueId shape = joined_sizes(build_, {tokens, build_.ints({2, heads_, 1})});
  std::vector<ValueId> index;
  const ValueId parts[] = {outer, iota(build_, whole(build_, 2)), iota(build_, whole(build_, heads_)), row};
  for (int64_t k = 0; k < 4; ++k) index.push_back(build_("Expand", {along(build_, parts[k], k == 3 ? 0 : k, 4), shape}));
  const ValueId rows = build_("Concat", {key, value}, {{"axis", int64_t{2}}});
  const ValueId updates = build_("Reshape", {rows, build_.ints({-1, 2, heads_, size_})});
  return build_("ScatterND", {past_, build_("Concat", index, {{"axis", int64_t{3}}}), updates});
}

ValueId PackedCache::rows(ValueId cache, int64_t which) const {
  const ValueId half = squeezed(build_, sliced(build_, cache, 1, which, which + 1), 1);
  if (!pages_) return half;
  const ValueId first_row = build_("Mul", {iota(build_, size_of(build_, pages_, 1)), block_});
  const ValueId is_used = build_("Less", {first_row, along(build_, sequences_.end(), 0, 2)});
  const ValueId page = build_("Where", {is_used, known_or_outside(pages_, size_of(build_, past_, 0)), whole(build_, 0)});
  const ValueId shape = joined_sizes(build_, {shape_of(build_, pages_, 0, 1), build_.ints({heads_}),
                                              build_("Unsqueeze", {keys_, build_.ints({0})}), build_.ints({size_})});
  return build_("Reshape", {transposed(build_, build_("Gather", {half, page}), {0, 2, 1, 3, 4}), shape});
}

ValueId PackedCache::visible(ValueId first, ValueId last) const {
  const ValueId own = build_("Equal", {along(build_, iota(build_, count_), 0, 4), along(build_, sequences_.number(), 2, 4)});
  const ValueId key = iota(build_, keys_);
  const ValueId seen = build_("And", {own, build_("LessOrEqual", {key, along(build_, last, 2, 4)})});
  return first ? build_("And", {seen, build_("Greater", {key, along(build_, first, 2, 4)})}) : seen;
}

ValueId PackedCache::repeated(ValueId query) const {
  const ValueId one = build_.ints({1});
  return build_("Expand", {query, joined_sizes(build_, {build_("Unsqueeze", {count_, build_.ints({0})}), one, one, one})});
}

ValueId PackedCache::own(ValueId y) const {
  const ValueId sequence = along(build_, sequences_.number(), 0, 2), token = along(build_, iota(build_, size_of(build_, y, 1)), 0, 2);
  const ValueId rows = build_("GatherND", {y, build_("Concat", {sequence, token}, {{"axis", int64_t{1}}})});
  return build_("Unsqueeze", {rows, build_.ints({0})});
}

}  // namespace tenon::ops
