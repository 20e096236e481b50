// SPDX-License-Identifier: Apache-2.0
#include "compiler/read_model.h"

#include <fmt/format.h>

#include "files/gguf.h"
#include "nn/checkpoint/checkpoint.h"
#include "nn/decoder/decoder.h"

namespace tenon::compiler {
namespace {

Result<import::Imported> decoder_of(nn::Checkpoint checkpoint, const std::filesystem::path& path, int64_t context) {
  const nn::DecoderConfig config = TRY(nn::decoder_config(*checkpoint.family, checkpoint.model, context));
  if (context > config.context)
    return fail(Code::bad_usage, "--context", "the model was trained for a shorter context")
        .expected(fmt::format("at most {}", config.context))
        .found(std::to_string(context));
  auto graph = nn::make_decoder(config, *checkpoint.weights, {.capacity = context});
  if (!graph) return std::move(graph).error().at(path.string());
  import::Imported out;
  out.graph = std::move(*graph);
  out.format = "checkpoint";
  out.producer = checkpoint.family->name;
  out.text = TRY(files::read_language_text(path));
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

Result<import::Imported> read_model(const std::filesystem::path& path, const import::ImportOptions& options, int64_t context) {
  if (context < 0)
    return fail(Code::bad_usage, "--context", "a context has tokens").expected("a number above 0").found(std::to_string(context));
  if (std::filesystem::is_directory(path)) {
    TRY(check_onnx_options(path, options));
    return decoder_of(TRY(nn::read_hugging_face(path)), path, context);
  }
  if (files::is_gguf(path)) {
    TRY(check_onnx_options(path, options));
    return decoder_of(TRY(nn::read_gguf_checkpoint(path)), path, context);
  }
  if (context != 0)
    return fail(Code::bad_usage, "--context", "the option is for checkpoints")
        .found(path.string())
        .advice("give capacities of an ONNX model with --state");
  return import::import_onnx(path, options);
}

}  // namespace tenon::compiler
