// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/types.h"

namespace tenon::ops::op_decoder_attention {

namespace {

enum Input : size_t { kQuery, kKey, kQueryWeight, kKeyWeight, kBias, kPadding, kKeyCache, kValueCache, kStatic, kPast, kState, kPadded };

/// A flag operand that is known to be false.
bool is_known_false(const NodeView& view, size_t k) {
  const Tensor* flag = view.inputs[k].constant;
  return flag && flag->count() == 1 && flag->integer(0) == 0;
}

Result<void> infer(NodeView& view) {
  for (size_t k : {kPast, kState, kPadded})
    if (!is_known_false(view, k))
      return refuse(view, Code::not_supported, "not supported yet: flags that are set, or known at run time only");
  return infer_by_definition(view);
}

/// The sequence axis is the first: [sequence, batch, heads * size]. Caches and padding are handled elsewhere.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {kQuery, kKey, kQueryWeight}) || !view.type(kQueryWeight).dim(0).is_number() || view.outputs.size() > 1) return {};
  const int64_t width = view.type(kQueryWeight).dim(0).value(), heads = view.attributes->integer("num_heads", 1);
  const auto batch_first = [&](ir::ValueId x) { return build("Transpose", {x}, {{"perm", Ints{1, 0, 2}}}); };
  const ir::ValueId q = build("Add", {build("MatMul", {in[kQuery], in[kQueryWeight]}), sliced(build, in[kBias], 0, 0, width)});
  const ir::ValueId kv = build("Add", {build("MatMul", {in[kKey], in[kKeyWeight]}), sliced(build, in[kBias], 0, width, 3 * width)});
  const auto halves = build.many("Split", {kv}, 2, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}});
  return {batch_first(build("Attention", {batch_first(q), batch_first(halves[0]), batch_first(halves[1])},
                            {{"kv_num_heads", heads}, {"q_num_heads", heads}}))};
}

}  // namespace

OP(decoder_attention) {
    .name = "DecoderAttention",
    .domain = "com.microsoft",
    .inputs = {{"query", "key", "q_weight", "kv_weight", "bias", "key_padding_mask?", "key_cache?", "value_cache?", "static_kv", "use_past",
                "has_layer_state", "has_key_padding_mask"}},
    .outputs = {{"output", "new_key_cache?", "new_value_cache?"}},
    .attributes = {{"mask_filter_value: float", "num_heads: int!"}},
    .infer = infer,
    .definition = define,
    .samples =
        {{"f32[3,2,8], f32[4,2,8], f32[8,8], f32[8,16], f32[24], _, _, _, bool[1] = [1], bool[1] = [0], bool[1] = [0], bool[1] = [0]; num_heads=2"}},
};

}  // namespace tenon::ops::op_decoder_attention
