// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/attention/heads.h"
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_local_attention {

namespace {

enum Operand : size_t { kQuery, kKeys, kValues, kMask, kPastKeys, kPastValues };

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, kQuery, is_arithmetic_float, "a float type"));
  TRY(require_dtype(view, kMask, [](DType d) { return d == DType::boolean; }, "bool"));
  for (size_t k : {kQuery, kKeys, kValues, kPastKeys, kPastValues}) {
    if (!view.has(k)) continue;
    TRY(require_same_dtype(view, kQuery, k));
    TRY(require_rank(view, k, 4));
  }
  if (view.has(kPastKeys) != view.has(kPastValues))
    return refuse(view, Code::bad_graph, "past_keys and past_values belong together").advice("give both or none");
  if (const int64_t repeats = view.attributes->integer("repeats", 1); repeats < 1)
    return refuse(view, Code::bad_attribute, "repeats says something else").expected("at least 1").found(std::to_string(repeats));
  return infer_by_definition(view);
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const DType dtype = view.type(kQuery).dtype;
  const int64_t repeats = view.attributes->integer("repeats", 1);
  if (repeats > 1 && (!view.type(kKeys).has_rank() || !view.type(kValues).has_rank())) return {};
  const auto number = [&](double value) { return build.scalar(dtype, value); };
  const auto joined = [&](Operand past, Operand now) {
    return view.has(past) ? build("Concat", {in[past], in[now]}, {{"axis", int64_t{2}}}) : in[now];
  };
  const auto repeated = [&](ir::ValueId x, Operand like) {
    if (repeats == 1) return x;
    return repeat_heads(build, x, view.type(like).dim(1), view.type(like).dim(3), repeats);
  };
  const ir::ValueId scale = number(std::sqrt(view.attributes->number("scale", 1))), low = number(view.attributes->number("low", -INFINITY));
  const ir::ValueId keys = joined(kPastKeys, kKeys), values = joined(kPastValues, kValues);
  const ir::ValueId transposed_keys = build("Transpose", {repeated(build("Mul", {keys, scale}), kKeys)}, {{"perm", ir::Ints{0, 1, 3, 2}}});
  const ir::ValueId scores = build("MatMul", {build("Mul", {in[kQuery], scale}), transposed_keys});
  const bool hides = view.attributes->integer("hides", 0) != 0;
  const ir::ValueId masked = hides ? build("Where", {in[kMask], low, scores}) : build("Where", {in[kMask], scores, low});
  const ir::ValueId weights = build("Softmax", {masked}, {{"axis", int64_t{-1}}});
  const ir::ValueId clean = build("Where", {build("IsNaN", {weights}), number(0), weights});
  std::vector<ir::ValueId> out{build("MatMul", {clean, repeated(values, kValues)}), keys, values};
  out.resize(view.outputs.size());
  return out;
}

}  // namespace

/// softmax(scale * q k^T where mask, else low, which defaults to -inf) v on four axes, with weight 0 where the softmax is NaN;
/// everything broadcasts. hides: true in the mask means low. repeats: how many times each head of keys and values is repeated. Past
/// keys and values go in front of the others; the joined ones are results too.
OP(local_attention) {
    .name = "LocalAttention",
    .domain = "tenon",
    .inputs = {{"query", "keys", "values", "mask", "past_keys?", "past_values?"}},
    .outputs = {{"Y", "present_keys?", "present_values?"}},
    .attributes = {{"hides: int = 0", "low: float", "repeats: int = 1", "scale: float = 1.0"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[2,3,4,8], f32[2,3,5,8], f32[2,3,5,6], bool[2,1,4,5]; scale=0.25",
                 "f32[1,2,3,4], f32[2,1,3,4], f32[2,2,3,4], bool[3]; low=-1e30", "f16[1,1,2,4], f16[1,1,2,4], f16[1,1,2,4], bool[1,1,2,2]",
                 "f32[2,6,4,8], f32[2,3,5,8], f32[2,3,5,6], bool[4,5]; repeats=2, hides=1",
                 "f32[2,2,3,4], f32[2,1,3,4], f32[2,1,3,6], bool[3,5], f32[2,1,2,4], f32[2,1,2,6]; repeats=2, scale=0.5, outputs=3",
                 "f64[1,2,3,4], f64[1,2,3,4], f64[1,2,3,4], bool[3,4], f64[1,2,1,4], f64[1,2,1,4]"}},
};

}  // namespace tenon::ops::op_local_attention
