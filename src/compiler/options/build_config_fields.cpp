// SPDX-License-Identifier: Apache-2.0
#include "compiler/options/build_config_fields.h"

#include <algorithm>
#include <vector>

namespace tenon::compiler {
namespace {

/// A namespace for short names that only this file uses.
namespace rows {

using Field = BuildConfigField;
using Text = std::string_view;
using enum FieldUse;

// --- a row of a kind of field ---

constexpr Field boolean(Text name, Text standard, FieldUse use, Text meaning) {
  return {.name = name, .kind = FieldKind::boolean, .standard = standard, .use = use, .meaning = meaning};
}
constexpr Field switched(Text name, Text standard, FieldUse use, Text meaning) {
  return {.name = name, .kind = FieldKind::switched, .standard = standard, .use = use, .meaning = meaning};
}
constexpr Field integer(Text name, int64_t least, Text standard, FieldUse use, Text meaning) {
  return {.name = name, .kind = FieldKind::integer, .least = least, .standard = standard, .use = use, .meaning = meaning};
}
constexpr Field text(Text name, Text standard, FieldUse use, Text meaning) {
  return {.name = name, .kind = FieldKind::text, .standard = standard, .use = use, .meaning = meaning};
}
constexpr Field choice(Text name, Text names, Text standard, FieldUse use, Text meaning) {
  return {.name = name, .kind = FieldKind::name, .names = names, .standard = standard, .use = use, .meaning = meaning};
}
constexpr Field flag(Text name, Text names, Text standard, FieldUse use, Text meaning) {
  return {.name = name, .kind = FieldKind::flag, .names = names, .standard = standard, .use = use, .meaning = meaning};
}
constexpr Field object(Text name, FieldUse use, Text meaning) {
  return {.name = name, .kind = FieldKind::object, .standard = "{}", .use = use, .meaning = meaning};
}
constexpr Field or_null(Field field) {
  field.nullable = true;
  return field;
}
/// A plugin: the type that it computes in, or null.
constexpr Field plugin(Text name, Text types, Text standard, FieldUse use, Text meaning) {
  return or_null(choice(name, types, standard, use, meaning));
}

constexpr Text kTypes = "auto float16 float32 bfloat16 int32";
constexpr Text kOneProcess = "a model runs in one process";
constexpr Text kSmoothQuant = "checkpoints of SmoothQuant are not read";
constexpr Text kNoFp8 = "products of FP8: CPUs have none";

constexpr Field kBuildConfig[] = {
    integer("max_input_len", 1, "1024", honoured,
            "tokens of a prompt, at most: a session refuses a longer one, and says by how much; more than max_seq_len counts as that"),
    or_null(
        integer("max_seq_len", 1, "null", honoured, "--context: tokens of prompt and answer; null: those that the model was trained for")),
    integer("opt_batch_size", 1, "8", no_effect, "a run has one sequence"),
    integer("max_batch_size", 1, "2048", no_effect, "a run has one sequence; any number of contexts share an engine"),
    integer("max_beam_width", 1, "1", not_yet, "beams"),
    integer("max_num_tokens", 1, "8192", honoured, "tokens of a run, at most: sessions read longer prompts in chunks"),
    or_null(integer("opt_num_tokens", 1, "null", honoured,
                    "tokens of a chunk in which sessions read prompts; null: 512, or max_num_tokens where that is less")),
    integer("max_prompt_embedding_table_size", 0, "0", not_yet, "tables of prompt embeddings"),
    or_null(choice(
        "kv_cache_type", "PAGED CONTINUOUS DISABLED", "null", honoured,
        "CONTINUOUS and null: states with room for max_seq_len tokens; DISABLED: none, a run computes a whole sequence; PAGED: not supported yet")),
    boolean("gather_context_logits", "false", honoured, "logits of all tokens of a run, f32[1, new, vocabulary], in place of the last one"),
    boolean("gather_generation_logits", "false", honoured, "always: a run of one token returns its logits"),
    boolean("strongly_typed", "true", no_effect,
            "types are those of the checkpoint, whatever it says; --weights and --precision change them"),
    or_null(integer("force_num_profiles", 1, "null", no_effect, "one plan serves all sizes")),
    choice("profiling_verbosity", "layer_names_only detailed none", "\"layer_names_only\"", no_effect,
           "an engine always keeps the names of its layers and its plan"),
    boolean("enable_debug_output", "false", refused, "`tenon compare` shows the values inside of a graph"),
    integer("max_draft_len", 0, "0", not_yet, "speculative decoding"),
    flag("speculative_decoding_mode",
         "NONE DRAFT_TOKENS_EXTERNAL MEDUSA LOOKAHEAD_DECODING EXPLICIT_DRAFT_TOKENS EAGLE NGRAM USER_PROVIDED SAVE_HIDDEN_STATES AUTO",
         "\"NONE\"", not_yet,
         "speculative decoding; MEDUSA, LOOKAHEAD_DECODING and EAGLE are refused: checkpoints with heads for drafts are not read"),
    boolean("use_refit", "false", refused, "weights of an engine cannot be replaced; a build takes seconds"),
    or_null(text("input_timing_cache", "null", refused,
                 "tactics follow from a model of costs; times that --measure takes are in the user's cache")),
    or_null(text("output_timing_cache", "\"model.cache\"", refused,
                 "tactics follow from a model of costs; times that --measure takes are in the user's cache")),
    object("lora_config", not_yet, "adapters that a run chooses (a lora_dir); --lora merges adapters into the weights"),
    object("auto_parallel_config", refused, "a model runs in one process: a world_size above 1 is an error, the rest has no effect"),
    boolean("weight_sparsity", "false", refused, "kernels for sparse weights: CPUs have no instructions for them"),
    boolean("weight_streaming", "false", refused, "weights are mapped from the engine file, so that the system loads what is used"),
    object("plugin_config", honoured, "the fields of the second table"),
    boolean("use_strip_plan", "false", refused, "an engine without weights would need refitting"),
    integer("max_encoder_input_len", 1, "1024", refused, "models with an encoder are not read"),
    boolean("dry_run", "false", honoured, "`tenon build` plans, prints the sizes and writes nothing; other callers refuse it"),
    or_null(text("visualize_network", "null", refused, "--html and --svg of `tenon build` draw the graph")),
    boolean("monitor_memory", "false", no_effect, "`tenon build` always prints the planned peak"),
    boolean("use_mrope", "false", refused, "rotations by three positions belong to vision models, which are not read"),
};

constexpr Field kPluginConfig[] = {
    text("dtype", "\"float16\"", no_effect, "activations are f32, weights have the types of the checkpoint"),
    plugin("bert_attention_plugin", kTypes, "\"auto\"", no_effect, "encoders are not read"),
    plugin("gpt_attention_plugin", kTypes, "\"auto\"", honoured,
           "null: attention is built of plain ops, which no rule joins; else the op Attention, in f32 whatever the type"),
    plugin("gemm_plugin", "auto float16 float32 bfloat16 int32 fp8 nvfp4", "null", no_effect,
           "all products are generated kernels; fp8 and nvfp4 are refused: CPUs have no such products"),
    plugin("gemm_swiglu_plugin", "fp8", "null", refused, kNoFp8),
    plugin("fp8_rowwise_gemm_plugin", kTypes, "null", refused, kNoFp8),
    plugin("qserve_gemm_plugin", kTypes, "null", refused,
           "checkpoints of QServe; --activations i8 multiplies matrices of 4 bits and activations of 8"),
    plugin("identity_plugin", kTypes, "null", no_effect, "nothing is copied for debugging"),
    plugin("nccl_plugin", kTypes, "\"auto\"", no_effect, kOneProcess),
    plugin("lora_plugin", kTypes, "null", not_yet, "adapters that a run chooses; --lora merges adapters into the weights"),
    switched("dora_plugin", "false", not_yet, "adapters that a run chooses; --lora merges those of DoRA into the weights"),
    plugin("weight_only_groupwise_quant_matmul_plugin", kTypes, "null", no_effect,
           "products read blocks of codes where the checkpoint has them, or by --weights"),
    plugin("weight_only_quant_matmul_plugin", kTypes, "null", no_effect,
           "products read blocks of codes where the checkpoint has them, or by --weights"),
    switched("smooth_quant_plugins", "true", no_effect, kSmoothQuant),
    plugin("smooth_quant_gemm_plugin", kTypes, "null", no_effect, kSmoothQuant),
    plugin("layernorm_quantization_plugin", kTypes, "null", no_effect, kSmoothQuant),
    plugin("rmsnorm_quantization_plugin", kTypes, "null", no_effect, kSmoothQuant),
    switched("quantize_per_token_plugin", "false", no_effect, kSmoothQuant),
    switched("quantize_tensor_plugin", "false", no_effect, kSmoothQuant),
    plugin("moe_plugin", kTypes, "\"auto\"", no_effect, "mixtures of experts are not read"),
    plugin("mamba_conv1d_plugin", kTypes, "\"auto\"", no_effect, "recurrent models are not read"),
    plugin("low_latency_gemm_plugin", "fp8", "null", refused, kNoFp8),
    plugin("low_latency_gemm_swiglu_plugin", "fp8", "null", refused, kNoFp8),
    plugin("gemm_allreduce_plugin", "float16 bfloat16", "null", refused, kOneProcess),
    switched("context_fmha", "true", no_effect, "attention of prompts and of single tokens is one kernel, without a matrix of scores"),
    switched("bert_context_fmha_fp32_acc", "false", no_effect, "sums are f32"),
    or_null(switched("paged_kv_cache", "null", honoured, "false: as kv_cache_type CONTINUOUS; true: as PAGED")),
    switched("remove_input_padding", "true", no_effect, "a run has one sequence, without padding"),
    switched("norm_quant_fusion", "false", no_effect, "planning decides which ops share a kernel"),
    switched("reduce_fusion", "false", no_effect, kOneProcess),
    switched("user_buffer", "false", no_effect, kOneProcess),
    integer("tokens_per_block", 1, "32", no_effect, "caches have no pages"),
    switched("use_paged_context_fmha", "true", no_effect, "every chunk of a prompt reads the cache before it"),
    switched("use_fp8_context_fmha", "true", no_effect, "checkpoints of FP8 are not read"),
    switched("fuse_fp4_quant", "false", refused, "products of NVFP4"),
    switched("multiple_profiles", "false", no_effect, "one plan serves all sizes"),
    switched("paged_state", "true", no_effect, "recurrent models are not read"),
    switched("streamingllm", "false", not_yet, "a window that a run chooses; --window and --sinks fix it in the build"),
    switched("manage_weights", "false", refused, "an engine file has its weights, as they are mapped"),
    switched("use_fused_mlp", "true", no_effect, "planning joins gate and up of each layer"),
    switched("pp_reduce_scatter", "false", refused, kOneProcess),
    plugin("lookup_plugin", kTypes, "null", no_effect, "embeddings are read row by row"),
    switched("context_fmha_fp32_acc", "false", no_effect, "sums are f32"),
    switched("attention_qk_half_accumulation", "false", no_effect, "sums are f32"),
    switched("multi_block_mode", "false", no_effect, "tasks of attention split the keys where that is faster"),
    switched("enable_xqa", "true", no_effect, "heads that share keys always share their loads"),
    switched("use_context_fmha_for_generation", "false", no_effect, "attention of prompts and of single tokens is one kernel"),
    switched("use_custom_all_reduce", "true", no_effect, kOneProcess),
};

}  // namespace rows

std::vector<BuildConfigField> all_build_config_fields() {
  std::vector<BuildConfigField> out(std::begin(rows::kBuildConfig), std::end(rows::kBuildConfig));
  for (BuildConfigField field : rows::kPluginConfig) {
    field.object = "plugin_config";
    out.push_back(field);
  }
  return out;
}

}  // namespace

std::string_view name_of(FieldUse use) {
  constexpr std::string_view kNames[] = {"honoured", "no effect", "refused", "not supported yet"};
  return kNames[static_cast<size_t>(use)];
}

std::span<const BuildConfigField> build_config_fields() {
  static const std::vector<BuildConfigField> fields = all_build_config_fields();
  return fields;
}

const BuildConfigField* find_build_config_field(std::string_view object, std::string_view name) {
  const auto fields = build_config_fields();
  const auto found = std::ranges::find_if(fields, [&](const BuildConfigField& f) { return f.object == object && f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const BuildConfigField& field) {
  std::vector<std::string> out;
  for (std::string_view rest = field.names; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string type_text(const BuildConfigField& field) {
  constexpr std::string_view kTypesOfKinds[] = {"bool", "bool", "int", "str", "", "", "object"};
  std::string out(kTypesOfKinds[static_cast<size_t>(field.kind)]);
  for (const std::string& name : names_of(field)) out += (out.empty() ? "" : ", ") + name;
  return field.nullable ? out + " or null" : out;
}

}  // namespace tenon::compiler
