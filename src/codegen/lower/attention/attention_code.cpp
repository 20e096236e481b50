// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_code.h"

#include <algorithm>

#include "base/checked.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {

namespace {

/// Names of the kernels, by AttentionForm.
constexpr const char* kNames[] = {"attention", "attention_join", "attention_few", "attention_few_join"};

}  // namespace

AttentionCode::AttentionCode(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& of,
                             const Group& group, const KeyParts& key_parts, AttentionForm which, const std::optional<FewQueries>& few)
    : emit(kernel, plan, target, kNames[static_cast<size_t>(which)]),
      nest(of),
      tile(tactic.tile),
      parts(key_parts),
      form(which),
      value_scale(group.as<AttentionGroup>().value_scale),
      in_order(plan.sums_in_order),
      visible(group.as<AttentionGroup>().longest_sequence ? std::nullopt : visible_keys(of)) {
  for (size_t k = 0; k < 3; ++k) places[k] = *affine_of(flat_of(nest.accesses[k], plan), kAttentionAxes);
  result = *affine_of(flat_of(nest.outputs[0], plan), kAttentionAxes);
  head_size = extent(kHeadSize).value();
  value_size = extent(kValueSize).value();
  padded_value_size = is_for_few() ? round_up(value_size, int64_t{lanes()}) : padded_values(nest, tile, target);
  take_buffers(group);
  const int64_t block = in_order ? kKeysOfARange : tactic.block;
  is_for_few() ? take_scratch_for_few(few->rows) : take_scratch(extent(kKey).is_number() ? std::min(block, extent(kKey).value()) : block);
}

void AttentionCode::take_buffers(const Group& group) {
  if (!joins())
    for (size_t k = 0; k < 3; ++k) operands[k] = emit.buffer(nest.accesses[k].array, false);
  const bool loads_bounds = visible && std::ranges::any_of(visible->bounds, [](const KeyBound& b) { return bool(b.loaded); });
  if (!joins() || (form == AttentionForm::join_few && loads_bounds)) scores_of.emplace(emit, nest, is_for_few() ? kKey : kQuery);
  const auto& of = group.as<AttentionGroup>();
  if (parts.several() || is_for_few())
    part_sums = emit.buffer(of.part_sums, !joins()), part_weights = emit.buffer(of.part_weights, !joins());
  for (size_t k = 0; k < 2 && of.longest_sequence; ++k) starts[k] = emit.buffer(group.inputs[k], false);
  if (form != AttentionForm::few_queries) out = emit.buffer(nest.outputs[0].array, true);
}

void AttentionCode::take_scratch(int64_t keys_of_a_block) {
  const int64_t queries = int64_t{tile.vectors} * lanes();
  scaled_query = build().scratch(DType::f32, queries * round_up(head_size, int64_t{lanes()}));
  scores = build().scratch(DType::f32, queries * std::max<int64_t>(keys_of_a_block, 1));
  sums = build().scratch(DType::f32, queries * padded_value_size);
  maxima = build().scratch(DType::f32, queries);
  totals = build().scratch(DType::f32, queries);
  factors = build().scratch(DType::f32, queries);
  if (joins() || in_order) part_factors = build().scratch(DType::f32, queries);
  for (const int operand : {1, 2})
    if (!joins() && is_narrow(operand)) wide[operand] = build().scratch(DType::f32, keys_of_a_block * wide_row(operand));
}

void AttentionCode::take_scratch_for_few(int rows) {
  if (joins()) {
    sums = build().scratch(DType::f32, padded_value_size);
    for (int32_t* each : {&maxima, &totals, &factors, &part_factors}) *each = build().scratch(DType::f32, lanes());
    return;
  }
  const int64_t padded_head_size = round_up(head_size, int64_t{lanes()});
  vectors_of_panel = vectors_for(rows, emit.target());
  const int64_t panel = int64_t{vectors_of_panel} * lanes();
  scores_of_a_row = round_up(kKeysOfARange, panel);
  scaled_query = build().scratch(DType::f32, rows * padded_head_size);
  panel_of_keys = build().scratch(DType::f32, padded_head_size * panel);
  scores = build().scratch(DType::f32, rows * scores_of_a_row);
}

KeyRange AttentionCode::visible_key_range(Reg first, Reg last, const AttentionPoint& head) {
  return key_range(emit, *visible, first, last, emit.dim(extent(kKey)), [&](const Expr& loaded) {
    auto made = scores_of->number_at(loaded, head);
    if (!made) status = std::unexpected(made.error());
    return made ? *made : number(0);
  });
}

Reg AttentionCode::real(double v) {
  ExprNode n;
  n.float_value = v;
  return emit.constant({DType::f32, 1}, n);
}

}  // namespace tenon::codegen
