// SPDX-License-Identifier: Apache-2.0
#include "language_files.h"

#include <algorithm>

#include "base/nearest.h"
#include "compiler/checkpoints/checkpoint_cache.h"
#include "compiler/options/option_table.h"
#include "engine/magic.h"
#include "handles.h"

namespace tenon_python {

namespace {

using tenon::Code;

/// Errors: bad_usage where the option has no such value.
tenon::base::Result<void> check_choice(const std::string& option, const std::string& value) {
  const tenon::compiler::OptionRow& row = tenon::compiler::option_row(option);
  const std::vector<std::string> names = tenon::compiler::choices_of(row);
  if (std::ranges::find(names, value) != names.end()) return {};
  std::string expected;
  for (const std::string& n : names) expected += (expected.empty() ? "" : n == names.back() ? " or " : ", ") + n;
  return tenon::base::fail(Code::bad_usage, option, std::string(row.problem))
      .expected(expected)
      .found("'" + value + "'")
      .advice(tenon::did_you_mean(value, names));
}

tenon::base::Result<tenon::compiler::CheckpointOptions> checkpoint_options(const LanguageFileOptions& options) {
  for (const auto& [option, value] :
       {std::pair("weights", &options.weights), std::pair("kv", &options.kv), std::pair("activations", &options.activations)})
    if (auto known = check_choice(option, *value); !known) return std::unexpected(known.error());
  auto config = tenon::compiler::build_config_of(options.build_config_file, options.build_config_text);
  if (!config) return std::unexpected(config.error());
  return tenon::compiler::CheckpointOptions{.context = options.context,
                                            .lora = options.lora,
                                            .weights = tenon::compiler::stored_weights_named(options.weights),
                                            .kv = tenon::compiler::cache_type_named(options.kv),
                                            .activations = tenon::compiler::activations_named(options.activations),
                                            .window = options.window,
                                            .sinks = options.sinks,
                                            .config = std::move(*config),
                                            .states = options.states};
}

tenon::base::Result<std::filesystem::path> found(const std::filesystem::path& model, const LanguageFileOptions& given) {
  auto options = checkpoint_options(given);
  if (!options) return std::unexpected(options.error());
  if (!tenon::engine::is_engine_file(model)) return tenon::compiler::cached_engine(model, *options, {});
  if (options->flag().empty()) return model;
  const std::string name(options->flag().substr(2));
  return tenon::base::fail(Code::bad_usage, name, "the option is one of a build, and an engine is built already")
      .expected("a GGUF file, a Hugging Face folder or an ONNX decoder")
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
