// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/projected_attention.h"

#include "ops/attention/heads.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"

namespace tenon::ops {

using ir::ValueId;

Ints attention_widths(const NodeView& view, size_t weights) {
  if (!ranks_known(view, {0, weights}) || view.rank(0) != 3 || view.rank(weights) != 2 || !view.type(weights).dim(1).is_number()) return {};
  const int64_t all = view.type(weights).dim(1).value();
  const Ints given = view.attributes->ints("qkv_hidden_sizes");
  if (given.empty() && all % 3 == 0) return Ints(3, all / 3);
  return given.size() == 3 && given[0] + given[1] + given[2] == all ? given : Ints();
}

namespace {

Error unsupported(const NodeView& view, std::string what, std::string expected, std::string found) {
  return refuse(view, Code::not_supported, "not supported yet: " + std::move(what)).expected(std::move(expected)).found(std::move(found));
}

/// The number of keys, those of the cache included: i64 of rank 0.
ValueId keys_of(ir::Builder& build, const NodeView& view, std::span<const ValueId> in, AttentionOperands p, ValueId projected) {
  const ValueId fresh = size_of(build, projected, 1);
  return view.has(p.past) ? build("Add", {size_of(build, in[p.past], 3), fresh}) : fresh;
}

/// The rows and columns of a mask [batch, 1, most, most] that belong to these queries and keys.
ValueId part_of_square(ir::Builder& build, ValueId mask, ValueId queries, ValueId keys) {
  const auto list = [&](ValueId a, ValueId b) {
    return build("Concat", {build("Unsqueeze", {a, build.ints({0})}), build("Unsqueeze", {b, build.ints({0})})}, {{"axis", int64_t{0}}});
  };
  return build("Slice", {mask, list(build("Sub", {keys, queries}), build.scalar(DType::i64, 0)), list(keys, keys), build.ints({2, 3})});
}

/// The bias that is added to the scores of masked keys.
ValueId mask_bias(ir::Builder& build, const NodeView& view, std::span<const ValueId> in, AttentionOperands p, ValueId projected) {
  const DType dtype = build.graph().value(projected).type.dtype;
  const double filter = view.attributes->number("mask_filter_value", -10000);
  const ValueId keys = keys_of(build, view, in, p, projected);
  if (view.rank(p.mask) == 1) return length_scores(build, in[p.mask], view, p.mask, size_of(build, projected, 0), keys, dtype, filter);
  if (view.rank(p.mask) < 4) return padding_scores(build, in[p.mask], view, p.mask, dtype, filter);
  const ValueId mask = part_of_square(build, in[p.mask], size_of(build, projected, 1), keys);
  const ValueId seen = build("Greater", {mask, build.scalar(view.type(p.mask).dtype, 0)});
  return build("Where", {seen, build.scalar(dtype, 0), build.scalar(dtype, filter)});
}

}  // namespace

Result<void> check_projected_attention(const NodeView& view, AttentionOperands p) {
  const ir::Attributes& a = *view.attributes;
  for (const char* name : {"do_rotary", "past_present_share_buffer"})
    if (const int64_t value = a.integer(name, 0); value != 0)
      return unsupported(view, name, std::string(name) + "=0", std::to_string(value));
  if (a.integer("num_heads", 0) < 1)
    return refuse(view, Code::bad_attribute, "num_heads must be positive").found(std::to_string(a.integer("num_heads", 0)));
  if (view.has(p.past)) TRY(require_rank(view, p.past, 5));
  if (!view.has(p.mask)) return {};
  TRY(require_rank(view, p.mask, 1, 4));
  if (ranks_known(view, {0, p.mask}) && view.rank(p.mask) == 1 && view.rank(0) == 3 && !counts_keys(view, p.mask))
    return unsupported(view, "a mask_index of this size", "batch, 2 * batch or 3 * batch + 2 elements", view.type(p.mask).text());
  return {};
}

std::vector<ValueId> define_projected_attention(ir::Builder& build, const NodeView& view, std::span<const ValueId> in, AttentionOperands p,
                                                ValueId projected, ValueId scores) {
  const ir::Attributes& a = *view.attributes;
  const Ints sizes = attention_widths(view, p.weights);
  if (!build.status() || sizes.empty() || (view.has(p.mask) && !view.type(p.mask).has_rank())) return {};
  std::vector<ValueId> operands = build.many("Split", {projected, build.ints(sizes)}, 3, {{"axis", int64_t{-1}}});
  const int64_t heads = a.integer("num_heads", 1);
  const bool adds_scores = static_cast<bool>(scores);  // which may be -inf
  const auto stacked = [&](ValueId keys, ValueId values) {
    return build("Concat", {build("Unsqueeze", {keys, build.ints({0})}), build("Unsqueeze", {values, build.ints({0})})},
                 {{"axis", int64_t{0}}});
  };
  const bool caches = view.outputs.size() > 1;
  const ValueId fresh =
      caches && !view.has(p.past) ? stacked(split_heads(build, operands[1], heads), split_heads(build, operands[2], heads)) : ValueId{};
  if (view.has(p.mask)) {
    const ValueId hidden = mask_bias(build, view, in, p, projected);
    scores = scores ? build("Add", {scores, hidden}) : hidden;
  }
  operands.push_back(scores);
  if (view.has(p.past))
    for (int64_t k : {0, 1}) operands.push_back(squeezed(build, sliced(build, in[p.past], 0, k, k + 1), 0));
  std::vector<std::pair<std::string, ir::Attribute>> how{
      {"is_causal", a.integer("unidirectional", 0)}, {"kv_num_heads", heads}, {"q_num_heads", heads}};
  if (adds_scores) how.emplace_back("masked_rows", std::string("nan"));
  if (a.number("scale", 0) != 0) how.emplace_back("scale", a.number("scale", 0));
  const std::vector<ValueId> y = build.many("Attention", operands, view.has(p.past) ? 3 : 1, std::move(how));
  if (!caches) return {y[0]};
  return {y[0], view.has(p.past) ? stacked(y[1], y[2]) : fresh};
}

}  // namespace tenon::ops
