// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/projected_attention.h"

#include "ops/attention/heads.h"
#include "ops/definition/pieces.h"

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

bool knows_mask(const NodeView& view, AttentionPlaces p) {
  if (!view.has(p.mask)) return true;
  const ir::Type& mask = view.type(p.mask);
  if (!mask.has_rank()) return false;
  if (mask.rank() == 1) return !view.has(p.past) && mask.dim(0).known_equal(view.type(0).dim(0));
  return mask.rank() == 2 || mask.rank() == 3;
}

/// What is added to the scores of keys that a mask hides.
ValueId hidden_keys(ir::Builder& build, const NodeView& view, std::span<const ValueId> in, AttentionPlaces p, ValueId projected) {
  const DType dtype = build.graph().value(projected).type.dtype;
  const double filter = view.attributes->number("mask_filter_value", -10000);
  if (view.rank(p.mask) > 1) return padding_scores(build, in[p.mask], view, p.mask, dtype, filter);
  const ValueId lengths = build("Unsqueeze", {cast_to(build, in[p.mask], DType::i64), build.ints({1})});
  const ValueId seen = build("Less", {counting(build, size_of(build, projected, 1)), lengths});
  return build("Unsqueeze", {build("Where", {seen, build.scalar(dtype, 0), build.scalar(dtype, filter)}), build.ints({1, 2})});
}

}  // namespace

std::vector<ValueId> define_projected_attention(ir::Builder& build, const NodeView& view, std::span<const ValueId> in, AttentionPlaces p,
                                                ValueId projected, ValueId scores) {
  const ir::Attributes& a = *view.attributes;
  const Ints sizes = attention_widths(view, p.weights);
  if (!build.status() || sizes.empty() || a.integer("do_rotary", 0) != 0 || a.integer("past_present_share_buffer", 0) != 0 ||
      !knows_mask(view, p))
    return {};
  std::vector<ValueId> operands = build.many("Split", {projected, build.ints(sizes)}, 3, {{"axis", int64_t{-1}}});
  const int64_t heads = a.integer("num_heads", 1);
  const bool adds_scores = static_cast<bool>(scores);  // which may be -inf
  const auto stacked = [&](ValueId keys, ValueId values) {
    return build("Concat", {build("Unsqueeze", {keys, build.ints({0})}), build("Unsqueeze", {values, build.ints({0})})},
                 {{"axis", int64_t{0}}});
  };
  const bool caches = view.outputs.size() > 1;
  const ValueId fresh =
      caches && !view.has(p.past) ? stacked(heads_apart(build, operands[1], heads), heads_apart(build, operands[2], heads)) : ValueId{};
  if (view.has(p.mask)) {
    const ValueId hidden = hidden_keys(build, view, in, p, projected);
    scores = scores ? build("Add", {scores, hidden}) : hidden;
  }
  operands.push_back(scores);
  if (view.has(p.past))
    for (int64_t k : {0, 1}) operands.push_back(without_axis(build, part_of(build, in[p.past], 0, k, k + 1), 0));
  std::vector<std::pair<std::string, ir::Attribute>> how{
      {"is_causal", a.integer("unidirectional", 0)}, {"kv_num_heads", heads}, {"q_num_heads", heads}};
  if (adds_scores) how.emplace_back("masked_rows", std::string("nan"));
  if (a.number("scale", 0) != 0) how.emplace_back("scale", a.number("scale", 0));
  const std::vector<ValueId> y = build.many("Attention", operands, view.has(p.past) ? 3 : 1, std::move(how));
  if (!caches) return {y[0]};
  return {y[0], view.has(p.past) ? stacked(y[1], y[2]) : fresh};
}

}  // namespace tenon::ops
