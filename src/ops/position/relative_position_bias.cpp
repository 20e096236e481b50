// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/types.h"

namespace tenon::ops::op_relative_position_bias {

namespace {

/// The bucket of each distance key - query: one for each small distance, logarithmic ones for larger distances (Raffel et al. 2020).
ir::ValueId buckets_of(ir::Builder& build, ir::ValueId distance, int64_t buckets, int64_t farthest, bool both_ways) {
  const auto whole = [&](int64_t value) { return build.scalar(DType::i64, static_cast<double>(value)); };
  ir::ValueId side, far = build("Neg", {distance});
  if (both_ways) {
    buckets /= 2;
    side = build("Mul", {cast_to(build, build("Greater", {distance, whole(0)}), DType::i64), whole(buckets)});
    far = build("Abs", {distance});
  } else {
    far = build("Max", {far, whole(0)});
  }
  const int64_t exact = buckets / 2;
  const ir::ValueId ratio = build("Div", {cast_to(build, far, DType::f32), build.scalar(DType::f32, static_cast<double>(exact))});
  const double step = static_cast<double>(buckets - exact) / std::log(static_cast<double>(farthest) / static_cast<double>(exact));
  const ir::ValueId above = cast_to(build, build("Mul", {build("Log", {ratio}), build.scalar(DType::f32, step)}), DType::i64);
  const ir::ValueId large = build("Min", {build("Add", {above, whole(exact)}), whole(buckets - 1)});
  const ir::ValueId bucket = build("Where", {build("Less", {far, whole(exact)}), far, large});
  return side ? build("Add", {bucket, side}) : bucket;
}

/// The table is declared [buckets, heads] and stored column by column.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {0}) || view.rank(0) != 2 || !view.type(0).dim(0).is_number() || !view.type(0).dim(1).is_number()) return {};
  const int64_t buckets = view.type(0).dim(0).value(), heads = view.type(0).dim(1).value();
  const auto line = [&](size_t k, int64_t axis) {
    const ir::ValueId end = build("Reshape", {cast_to(build, in[k], DType::i64), build.ints({})});
    return build("Unsqueeze", {iota(build, end), build.ints({axis})});
  };
  const ir::ValueId bucket =
      buckets_of(build, build("Sub", {line(2, 0), line(1, 1)}), buckets, view.attributes->integer("max_distance", 128),
                 view.attributes->integer("is_bidirectional", 0) != 0);
  const ir::ValueId table = build("Reshape", {in[0], build.ints({1, heads, buckets})});
  return {build("Gather", {table, bucket}, {{"axis", int64_t{2}}})};
}

}  // namespace

OP(relative_position_bias) {
    .name = "RelativePositionBias",
    .domain = "com.microsoft",
    .inputs = {{"bias_table", "query_length", "key_length"}},
    .outputs = {{"output"}},
    .attributes = {{"is_bidirectional: int = 0", "max_distance: int!"}},
    .infer = infer_by_definition,
    .definition = define,
    .samples = {{"f32[8,2], i64[1] = [4], i64[1] = [4]; max_distance=20",
                 "f32[8,2], i64[1] = [3], i64[1] = [5]; max_distance=20, is_bidirectional=1"}},
};

}  // namespace tenon::ops::op_relative_position_bias
