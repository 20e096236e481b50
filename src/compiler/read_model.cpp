// SPDX-License-Identifier: Apache-2.0
#include "compiler/read_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/onnx_decoder.h"
#include "files/gguf.h"
#include "nn/checkpoint/checkpoint.h"
#include "nn/checkpoint/token_ids.h"
#include "nn/decoder/decoder.h"

namespace tenon::compiler {
namespace {

/// 0: that of the model. Errors: bad_usage where the options give two.
Result<int64_t> context_of(const CheckpointOptions& options) {
  if (options.context == 0 || options.config.context == 0) return std::max(options.context, options.config.context);
  if (options.context == options.config.context) return options.context;
  return fail(Code::bad_usage, "--context", "the BuildConfig gives another context")
      .expected(fmt::format("{} of {}, or one of the two alone", options.config.context, options.config.max_seq_len))
      .found(std::to_string(options.context));
}

/// Errors: bad_usage for a type of a cache that there is not.
Result<nn::DecoderOptions> decoder_options(const CheckpointOptions& options, int64_t context) {
  const BuildConfig& config = options.config;
  if (!config.has_cache && options.kv != nn::CacheType::f32)
    return fail(Code::bad_usage, "--kv", "the BuildConfig disables the cache")
        .expected("CONTINUOUS or null as kv_cache_type of " + config.place)
        .found("DISABLED")
        .advice("leave one of the two out");
  return nn::DecoderOptions{.capacity = context,
                            .most_tokens = config.most_tokens,
                            .has_cache = config.has_cache,
                            .cache = options.kv,
                            .batch = options.batch,
                            .all_logits = config.all_logits,
                            .plain_attention = config.plain_attention,
                            .window = options.window,
                            .sinks = options.sinks};
}

Result<import::Imported> decoder_of(nn::Checkpoint checkpoint, const std::filesystem::path& path, const CheckpointOptions& options) {
  const int64_t context = TRY(context_of(options));
  const int64_t in_sight = context == 0 && options.window > 0 ? options.window + options.sinks : context;  // positions apart, at most
  const nn::DecoderConfig config = TRY(nn::decoder_config(*checkpoint.family, checkpoint.model, in_sight));
  if (context > config.context)
    return fail(Code::bad_usage, options.context > 0 ? "--context" : options.config.max_seq_len,
                "the model was trained for a shorter context")
        .expected(fmt::format("at most {}", config.context))
        .found(std::to_string(context));
  import::Imported out;
  out.warnings = TRY(nn::merge_adapters(TRY(options.adapters()), checkpoint));
  nn::StorageReport stored = TRY(nn::store_weights(options.weights, checkpoint));
  out.warnings.insert(out.warnings.end(), stored.warnings.begin(), stored.warnings.end());
  out.notes = std::move(stored.notes);
  auto graph = nn::make_decoder(config, *checkpoint.weights, TRY(decoder_options(options, context)));
  if (!graph) return std::move(graph).error().at(path.string());
  out.graph = std::move(*graph);
  out.format = "checkpoint";
  out.producer = checkpoint.family->name;
  out.text = TRY(files::read_text_assets(path));
  TRY(nn::check_token_ids(out.text, path, {.count = checkpoint.weights->shape_of("token_embd.weight")->at(0)}));
  if (std::string limits = options.config.session_limits(); !limits.empty()) out.text[files::TextAsset::session_limits] = std::move(limits);
  return out;
}

/// Errors: bad_usage, for options of checkpoints; without a decoder --context is one.
Result<void> check_checkpoint_options(const std::filesystem::path& path, CheckpointOptions of_checkpoint, bool is_decoder) {
  if (is_decoder) of_checkpoint.context = 0;
  of_checkpoint.states.clear();
  const std::string_view flag = of_checkpoint.flag();
  if (flag.empty()) return {};
  return fail(Code::bad_usage, std::string(flag), "the option is for checkpoints")
      .expected("a GGUF file or a Hugging Face folder")
      .found(path.string())
      .advice(flag == "--context" ? "give capacities of an ONNX model with --state, or --state auto for a language model" : "leave it out");
}

/// How many a token has, in the output of a decoder; nullopt: not known before a run.
std::optional<int64_t> logits_of(const ir::Graph& graph) {
  for (uint32_t k = 0; k < graph.outputs().size(); ++k) {
    const ir::Type& type = graph.value(graph.outputs()[k]).type;
    if (graph.output_name(k) == "logits" && type.is_tensor() && type.has_rank() && type.rank() > 0)
      return type.dim(type.rank() - 1).number();
  }
  return std::nullopt;
}

/// An ONNX model; as a decoder with its text where `--state auto` is given.
Result<import::Imported> read_onnx(const std::filesystem::path& path, import::ImportOptions options,
                                   const CheckpointOptions& of_checkpoint) {
  const bool is_decoder = makes_decoder(options.states);
  TRY(check_checkpoint_options(path, of_checkpoint, is_decoder));
  if (!is_decoder) return import::import_onnx(path, options);
  options.states = TRY(states_of_decoder(path, options.states, of_checkpoint.context));
  auto out = TRY(import::import_onnx(path, options));
  out.text = TRY(files::read_text_assets(path));
  if (const auto logits = logits_of(*out.graph)) TRY(nn::check_token_ids(out.text, path, {.count = *logits, .name = "logits"}));
  return out;
}

}  // namespace

Result<void> check_onnx_options(const std::filesystem::path& path, const import::ImportOptions& options) {
  const std::pair<const char*, bool> given[] = {{"--shape", !options.shapes.empty()},
                                                {"--only-output", !options.outputs.empty()},
                                                {"--state", !options.states.empty()},
                                                {"--external-data", !options.external_data_dir.empty()}};
  for (const auto& [name, is_given] : given)
    if (is_given)
      return fail(Code::bad_usage, name, "the option is for ONNX models")
          .found(path.string() + ", a checkpoint")
          .advice("leave it out; --context sizes its states");
  return {};
}

Result<import::Imported> read_model(const std::filesystem::path& path, const import::ImportOptions& options,
                                    const CheckpointOptions& of_checkpoint) {
  TRY(of_checkpoint.check_numbers());
  if (const auto model = std::filesystem::is_directory(path) ? onnx_decoder_in(path) : std::nullopt) {
    import::ImportOptions reading = options;
    reading.states.emplace_back("auto");
    return read_onnx(*model, std::move(reading), of_checkpoint);
  }
  if (std::filesystem::is_directory(path)) {
    TRY(check_onnx_options(path, options));
    return decoder_of(TRY(nn::read_hugging_face(path)), path, of_checkpoint);
  }
  if (files::is_gguf(path)) {
    TRY(check_onnx_options(path, options));
    return decoder_of(TRY(nn::read_gguf_checkpoint(path)), path, of_checkpoint);
  }
  return read_onnx(path, options, of_checkpoint);
}

}  // namespace tenon::compiler
