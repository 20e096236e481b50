// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_code.h"

#include <algorithm>

#include "base/checked.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {

AttentionCode::AttentionCode(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& of,
                             const Group& group, const KeyParts& key_parts, bool joins)
    : emit(kernel, plan, target, joins ? "attention_join" : "attention"),
      nest(of),
      tile(tactic.tile),
      parts(key_parts),
      visible(group.as<AttentionGroup>().longest_sequence ? std::nullopt : visible_keys(of)) {
  for (size_t k = 0; k < 3; ++k) places[k] = *affine_of(flat_of(nest.accesses[k], plan), kAttentionAxes);
  result = *affine_of(flat_of(nest.outputs[0], plan), kAttentionAxes);
  head = extent(kHeadSize).value();
  value = extent(kValueSize).value();
  value_pad = padded_values(nest, tile, target);
  take_buffers(group, joins);
  take_scratch(extent(kKey).is_number() ? std::min(tactic.block, extent(kKey).value()) : tactic.block, joins);
}

void AttentionCode::take_buffers(const Group& group, bool joins) {
  if (!joins) {
    for (size_t k = 0; k < 3; ++k) operands[k] = emit.buffer(nest.accesses[k].array, false);
    scores_of.emplace(emit, nest);
  }
  const auto& of = group.as<AttentionGroup>();
  if (parts.several()) part_sums = emit.buffer(of.part_sums, !joins), part_weights = emit.buffer(of.part_weights, !joins);
  for (size_t k = 0; k < 2 && of.longest_sequence; ++k) starts[k] = emit.buffer(group.inputs[k], false);
  out = emit.buffer(nest.outputs[0].array, true);
}

void AttentionCode::take_scratch(int64_t keys_of_a_block, bool joins) {
  const int64_t queries = int64_t{tile.vectors} * lanes();
  scaled_query = build().scratch(DType::f32, queries * round_up(head, int64_t{lanes()}));
  scores = build().scratch(DType::f32, queries * std::max<int64_t>(keys_of_a_block, 1));
  sums = build().scratch(DType::f32, queries * value_pad);
  maxima = build().scratch(DType::f32, queries);
  totals = build().scratch(DType::f32, queries);
  factors = build().scratch(DType::f32, queries);
  if (joins) part_factors = build().scratch(DType::f32, queries);
}

Reg AttentionCode::real(double v) {
  ExprNode n;
  n.float_value = v;
  return emit.constant({DType::f32, 1}, n);
}

}  // namespace tenon::codegen
