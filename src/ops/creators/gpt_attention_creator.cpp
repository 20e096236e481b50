// SPDX-License-Identifier: Apache-2.0
// Names and types of fields: those that TensorRT-LLM's creator reads (cpp/tensorrt_llm/plugins/gptAttentionPlugin/gptAttentionPlugin.cpp,
// versions of 2024 to 2026). Its own defaults are none: a field that it reads must be given. Here that holds for what changes the result.
#include "ops/creators/gpt_attention_creator.h"

#include <fmt/format.h>

#include <deque>
#include <limits>
#include <optional>

namespace tenon::ops {

namespace creator_gpt_attention {
namespace {

enum class Need : uint8_t {
  given,   ///< must be given
  used,    ///< has a default
  choice,  ///< may be missing, and has no default
  list,    ///< any number of elements, may be missing, changes nothing here
  only,    ///< has a default; the original has other values, and `text` gives the reason why they are refused
  one_of,  ///< as `only`, and must be given
  unused,  ///< changes nothing here
};

/// least > most: any number.
struct Row {
  const char* name;
  int32_t type;
  Need need;
  double otherwise, least, most;
  const char* text;
};

constexpr int32_t kI8 = TENON_FIELD_I8, kI32 = TENON_FIELD_I32, kF32 = TENON_FIELD_F32;
constexpr double kMost = 1 << 20, kMostFloat = std::numeric_limits<float>::max();
constexpr const char *kAlone = "one process computes all heads", *kScaling = "for a rotary_embedding_scale_type that is refused",
                     *kSparse = "for mask_type 5", *kLatent = "for is_mla_enabled", *kHow = "how the original computes it";

constexpr Row kRows[] = {
    {"layer_idx", kI32, Need::unused, -1, 1, 0, "the number of the layer"},
    {"num_heads", kI32, Need::given, 0, 1, kMost, "heads of q"},
    {"vision_start", kI32, Need::only, -1, -1, -1, "tokens of an image have positions of their own"},
    {"vision_length", kI32, Need::only, -1, -1, 0, "tokens of an image have positions of their own"},
    {"num_kv_heads", kI32, Need::given, 0, 1, kMost, "heads of k and of v, a divisor of num_heads"},
    {"num_kv_heads_origin", kI32, Need::unused, 0, 1, 0, "num_kv_heads before heads were spread over processes"},
    {"layer_idx_in_cache_pool", kI32, Need::unused, 0, 1, 0, "for paged_kv_cache"},
    {"head_size", kI32, Need::given, 0, 1, kMost, "elements of a head"},
    {"unidirectional", kI32, Need::unused, 1, 0, 1, "mask_type has it"},
    {"q_scaling", kF32, Need::used, 1, 1, 0, "scores are divided by it and by sqrt(head_size)"},
    {"attn_logit_softcapping_scale", kF32, Need::used, 0, 0, kMostFloat, "c above 0: scores s become c * tanh(s / c)"},
    {"position_embedding_type", kI8, Need::only, 0, 0, 2,
     "positions are 0 (learned_absolute), 1 (rope_gptj) and 2 (rope_gpt_neox); rotate q and k, or add a bias by distance, in layers of your own"},
    {"rotary_embedding_dim", kI32, Need::used, 0, 0, kMost, "elements of a head that rotations rotate, the first ones"},
    {"rotary_embedding_base", kF32, Need::used, 10000, 1, 0, "pair i of rotations turns by base^(-2i / rotary_embedding_dim) a position"},
    {"rotary_embedding_scale_type", kI8, Need::only, 0, 0, 1, "scales of positions are 0 (none) and 1 (linear)"},
    {"rotary_embedding_scale", kF32, Need::used, 1, 1, 0, "rotary_embedding_scale_type 1: positions are divided by it"},
    {"rotary_embedding_short_m_scale", kF32, Need::unused, 1, 1, 0, kScaling},
    {"rotary_embedding_long_m_scale", kF32, Need::unused, 1, 1, 0, kScaling},
    {"rotary_embedding_max_positions", kI32, Need::unused, 0, 1, 0, "any position is taken"},
    {"rotary_embedding_original_max_positions", kI32, Need::unused, 0, 1, 0, kScaling},
    {"tp_size", kI32, Need::only, 1, 0, 1, kAlone},
    {"tp_rank", kI32, Need::only, 0, 0, 0, kAlone},
    {"unfuse_qkv_gemm", kI8, Need::only, 0, 0, 0, "q, k and v come in one operand"},
    {"use_logn_scaling", kI8, Need::used, 0, 0, 1, "1: logn_scaling is given, and q at position t is multiplied by its element t"},
    {"context_fmha_type", kI8, Need::unused, 0, 0, 2, kHow},
    {"multi_block_mode", kI8, Need::unused, 0, 0, 1, kHow},
    {"enable_xqa", kI8, Need::unused, 0, 0, 1, kHow},
    {"kv_cache_quant_mode", kI32, Need::only, 0, 0, 0, "k and v are kept in the type of qkv"},
    {"remove_input_padding", kI8, Need::given, 0, 0, 1,
     "1: the sequences of context_lengths tokens lie one after the other in a batch of 1"},
    {"mask_type", kI32, Need::one_of, 0, 0, 2,
     "masks are 0 (padding), 1 (causal) and 2 (causal in a sliding window); prefixes, block-sparse and custom ones are not"},
    {"block_sparse_block_size", kI32, Need::unused, 64, 1, 0, kSparse},
    {"block_sparse_homo_head_pattern", kI8, Need::unused, 0, 0, 1, kSparse},
    {"block_sparse_num_local_blocks", kI32, Need::unused, 16, 1, 0, kSparse},
    {"block_sparse_vertical_stride", kI32, Need::unused, 8, 1, 0, kSparse},
    {"paged_kv_cache", kI32, Need::used, 0, 0, 1, "1: past_key_value has pages, and page_table is given"},
    {"tokens_per_block", kI32, Need::used, 0, 0, kMost, "of paged_kv_cache: rows of a page; 0: those that past_key_value has"},
    {"type_id", kI32, Need::choice, 0, 0, 7, "the type of qkv, as TensorRT numbers them: 0 (f32), 1 (f16) or 7 (bf16)"},
    {"max_context_length", kI32, Need::unused, 0, 1, 0, "any length is taken"},
    {"qkv_bias_enabled", kI8, Need::used, 0, 0, 1, "1: qkv_bias is given"},
    {"do_cross_attention", kI8, Need::only, 0, 0, 0, "q, k and v are of one sequence"},
    {"max_distance", kI32, Need::unused, 0, 1, 0, "for relative positions"},
    {"pos_shift_enabled", kI8, Need::only, 0, 0, 0, "k is kept as it comes"},
    {"dense_context_fmha", kI8, Need::unused, 0, 0, 1, kHow},
    {"use_paged_context_fmha", kI8, Need::unused, 0, 0, 1, kHow},
    {"use_fp8_context_fmha", kI8, Need::only, 0, 0, 0, "products are computed in the type of qkv"},
    {"has_full_attention_mask", kI8, Need::only, 0, 0, 0, "there is no operand for a mask"},
    {"use_cache", kI32, Need::used, 1, 0, 1, "1: the layer has present_key_value as a second result"},
    {"is_spec_decoding_enabled", kI8, Need::only, 0, 0, 0, "drafts of tokens are not verified"},
    {"spec_decoding_is_generation_length_variable", kI8, Need::unused, 0, 0, 1, "for is_spec_decoding_enabled"},
    {"spec_decoding_max_generation_length", kI32, Need::unused, 1, 1, 0, "for is_spec_decoding_enabled"},
    {"is_mla_enabled", kI8, Need::only, 0, 0, 0, "k and v are not kept as a latent vector"},
    {"q_lora_rank", kI32, Need::unused, 0, 1, 0, kLatent},
    {"kv_lora_rank", kI32, Need::unused, 0, 1, 0, kLatent},
    {"qk_nope_head_dim", kI32, Need::unused, 0, 1, 0, kLatent},
    {"qk_rope_head_dim", kI32, Need::unused, 0, 1, 0, kLatent},
    {"v_head_dim", kI32, Need::unused, 0, 1, 0, kLatent},
    {"fuse_fp4_quant", kI8, Need::only, 0, 0, 0, "the result is of the type of qkv"},
    {"skip_attn", kI8, Need::only, 0, 0, 0, "the layer computes its result"},
    {"cp_size", kI32, Need::only, 1, 0, 1, kAlone},
    {"cp_rank", kI32, Need::only, 0, 0, 0, kAlone},
    {"cp_group", kI32, Need::list, 0, 1, 0, kAlone},
};

bool refuses_others(const Row& row) { return row.need == Need::only || row.need == Need::one_of; }
bool is_required(const Row& row) { return row.need == Need::given || row.need == Need::one_of; }

tenon_field_rule rule_of(const Row& row) {
  static auto& defaults = *new std::deque<std::string>;  // rules point into it
  tenon_field_rule out{};
  out.struct_size = sizeof out;
  out.name = row.name;
  out.type = row.type;
  out.length = row.need == Need::list ? -1 : 1;
  out.optional = row.need == Need::choice || row.need == Need::list;
  if (!out.optional && !is_required(row))
    out.otherwise = defaults.emplace_back(plugin::scalar_field(row.name, row.type, row.otherwise)->bytes).data();
  out.has_range = row.least <= row.most;
  out.least = row.least;
  out.most = row.most;
  out.docs = row.text;
  return out;
}

tenon_port port(const char* name, uint32_t dtypes, bool optional) {
  tenon_port out{};
  out.struct_size = sizeof out;
  out.name = name;
  out.dtypes = dtypes;
  out.optional = optional;
  return out;
}

plugin::Op declaration() {
  constexpr uint32_t kReal = TENON_DTYPE_BIT(TENON_F32) | TENON_DTYPE_BIT(TENON_F16) | TENON_DTYPE_BIT(TENON_BF16);
  constexpr uint32_t kIndex = TENON_DTYPE_BIT(TENON_I32) | TENON_DTYPE_BIT(TENON_I64);
  plugin::Op out;
  out.name_space = "tensorrt_llm";
  out.name = "GPTAttention";
  out.version = "1";
  out.library_name = "tenon";
  out.table.docs = "self-attention over packed q, k and v";
  out.operands = {port("qkv", kReal, false),     port("context_lengths", kIndex, true), port("past_key_value", kReal, true),
                  port("qkv_bias", kReal, true), port("past_lengths", kIndex, true),    port("page_table", kIndex, true),
                  port("window", kIndex, true),  port("logn_scaling", kReal, true)};
  out.results = {port("output", kReal, false), port("present_key_value", kReal, true)};
  for (const Row& row : kRows) out.fields.push_back(rule_of(row));
  return out;
}

DType dtype_of(int64_t type_id) { return type_id == 0 ? DType::f32 : type_id == 1 ? DType::f16 : type_id == 7 ? DType::bf16 : DType::none; }

/// Fields whose values cannot be together.
struct Combination {
  bool (*applies)(const FieldValues& values);
  bool not_supported;
  const char* text;
};
bool is_rotated(const FieldValues& v) { return v.integer("position_embedding_type") != 0; }
bool fits_a_head(int64_t rotated, int64_t size) { return rotated >= 2 && rotated <= size && rotated % 2 == 0; }

constexpr Combination kRefused[] = {
    {[](const FieldValues& v) { return v.integer("mask_type") == 0 && v.integer("remove_input_padding") == 0; }, true,
     "mask_type = 0 with remove_input_padding = 0: not supported yet, padding is not masked; remove it"},
    {[](const FieldValues& v) { return v.integer("paged_kv_cache") == 1 && v.integer("remove_input_padding") == 0; }, true,
     "paged_kv_cache = 1 with remove_input_padding = 0: not supported yet, sequences with pages have pasts of different lengths; remove it"},
    {[](const FieldValues& v) { return v.integer("paged_kv_cache") == 1 && v.integer("use_cache") == 0; }, false,
     "paged_kv_cache = 1 with use_cache = 0: without present_key_value the pages that are written are lost"},
    {[](const FieldValues& v) { return is_rotated(v) && !fits_a_head(v.integer("rotary_embedding_dim"), v.integer("head_size")); }, false,
     "rotary_embedding_dim with position_embedding_type 1 or 2: it is an even number in 2 .. head_size"},
    {[](const FieldValues& v) { return is_rotated(v) && !(v.number("rotary_embedding_base") > 0); }, false,
     "rotary_embedding_base is not above 0"},
    {[](const FieldValues& v) { return v.integer("rotary_embedding_scale_type") == 1 && !(v.number("rotary_embedding_scale") > 0); }, false,
     "rotary_embedding_scale is not above 0"},
};

void check(const FieldValues& values, std::vector<FieldFault>& faults) {
  const int64_t heads = values.integer("num_heads"), kv_heads = values.integer("num_kv_heads");
  if (heads % kv_heads != 0) faults.push_back({false, fmt::format("num_heads = {} is no multiple of num_kv_heads = {}", heads, kv_heads)});
  if (const double scaling = values.number("q_scaling"); !(scaling > 0))
    faults.push_back({false, fmt::format("field 'q_scaling' (f32) = {} is not above 0", scaling)});
  if (values.has("type_id") && dtype_of(values.integer("type_id")) == DType::none)
    faults.push_back({true, fmt::format("field 'type_id' (i32) = {}: not supported yet, types are 0 (f32), 1 (f16) and 7 (bf16)",
                                        values.integer("type_id"))});
  for (const Combination& c : kRefused)
    if (c.applies(values)) faults.push_back({c.not_supported, c.text});
}

CreatedNode node_of(const FieldValues& values) {
  CreatedNode out;
  for (const char* name : {"num_heads", "num_kv_heads", "head_size", "position_embedding_type", "rotary_embedding_dim",
                           "rotary_embedding_scale_type", "tokens_per_block"})
    out.attributes.set(name, values.integer(name));
  for (const char* name : {"q_scaling", "attn_logit_softcapping_scale", "rotary_embedding_base", "rotary_embedding_scale"})
    out.attributes.set(name, static_cast<float>(values.number(name)));
  out.attributes.set("packed", values.integer("remove_input_padding"));
  out.attributes.set("causal", int64_t{values.integer("mask_type") != 0});
  out.outputs = values.integer("use_cache") ? 2 : 1;
  out.dtype = values.has("type_id") ? dtype_of(values.integer("type_id")) : DType::none;
  const bool is_paged = values.integer("paged_kv_cache") != 0;
  const std::optional<bool> paged = is_paged ? std::optional(true) : std::nullopt;
  out.operands = {true,
                  paged,
                  paged,
                  values.integer("qkv_bias_enabled") != 0,
                  paged,
                  is_paged,
                  values.integer("mask_type") == 2,
                  values.integer("use_logn_scaling") != 0};
  return out;
}

}  // namespace
}  // namespace creator_gpt_attention

OpCreator gpt_attention_creator() {
  using namespace creator_gpt_attention;
  OpCreator out{declaration(), "GPTAttention", {}, check, node_of};
  for (const Row& row : kRows) out.only_value.push_back(refuses_others(row) ? row.text : nullptr);
  return out;
}

}  // namespace tenon::ops
