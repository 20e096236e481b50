// SPDX-License-Identifier: Apache-2.0
#include "language_files.h"

#include <algorithm>

#include "compiler/checkpoints/checkpoint_cache.h"
#include "compiler/options/option_table.h"
#include "engine/magic.h"
#include "handles.h"

namespace tenon_python {

namespace {

using tenon::Code;

tenon::base::Result<tenon::compiler::CheckpointOptions> checkpoint_options(const LanguageFileOptions& options) {
  const std::vector<std::string> names = tenon::compiler::choices_of(tenon::compiler::option_row("weights"));
  if (std::ranges::find(names, options.weights) == names.end())
    return tenon::base::fail(Code::bad_usage, "weights", "weights are not stored so")
        .expected("keep, int8, int4, bf16 or f32")
        .found("'" + options.weights + "'");
  auto config = tenon::compiler::build_config_of(options.build_config_file, options.build_config_text);
  if (!config) return std::unexpected(config.error());
  return tenon::compiler::CheckpointOptions{options.context, options.lora, tenon::compiler::stored_weights_named(options.weights),
                                            std::move(*config)};
}

tenon::base::Result<std::filesystem::path> found(const std::filesystem::path& model, const LanguageFileOptions& given) {
  auto options = checkpoint_options(given);
  if (!options) return std::unexpected(options.error());
  if (!tenon::engine::is_engine_file(model)) return tenon::compiler::cached_engine(model, *options, {});
  if (options->flag().empty()) return model;
  const std::string name(options->flag().substr(2));
  return tenon::base::fail(Code::bad_usage, name, "the option is one of a build, and an engine is built already")
      .expected("a GGUF file or a folder of Hugging Face")
      .found(model.string() + ", an engine")
      .advice("leave it out, or build the engine with --" + name);
}

}  // namespace

std::filesystem::path engine_file(const std::filesystem::path& model, const LanguageFileOptions& options) {
  auto file = [&] {
    const nanobind::gil_scoped_release released;
    return found(model, options);
  }();
  return tenon::python::unwrap(std::move(file));
}

}  // namespace tenon_python
