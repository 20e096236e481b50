// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/language_model.h"

#include <CLI/CLI.hpp>

#include <filesystem>

#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/options/table_options.h"
#include "compiler/checkpoints/checkpoint_cache.h"
#include "compiler/load.h"
#include "engine/magic.h"
#include "llm/text/read_tokenizer.h"

namespace tenon::cli {
namespace {

bool is_engine(const std::string& path) { return engine::is_engine_file(path) || std::filesystem::path(path).extension() == ".tenon"; }

compiler::BuildMessages messages_on(Console& console) {
  return {.note = [&console](std::string_view line) { console.note(line); },
          .step = [&console](std::string_view step) { console.progress(step); },
          .warning = [&console](std::string_view warning) { console.warn(warning); }};
}

}  // namespace

void LanguageModelOptions::add_to(CLI::App& app) {
  app.add_option(
         "MODEL", path,
         "an engine, a GGUF file, a Hugging Face folder or an ONNX decoder; all but the first are built once, into the user's cache")
      ->required()
      ->type_name("FILE");
  app.add_option("--context", context, "tokens of prompt and answer that the cache has room for (default: those of the model)")
      ->type_name("N")
      ->check(at_least(1));
  add_table_option(app, "states", states);
  add_table_option(app, "lora", lora);
  add_table_option(app, "weights", weights)->capture_default_str();
  add_table_option(app, "kv", kv)->capture_default_str();
  add_table_option(app, "activations", activations)->capture_default_str();
  add_table_option(app, "window", window)->check(at_least(1));
  add_table_option(app, "sinks", sinks)->check(at_least(0));
  add_table_option(app, "build_config", build_config);
  app.add_option("--threads", threads, "threads to run on (default: what this process may use)")->check(at_least(0));
}

Result<std::shared_ptr<const llm::Model>> LanguageModelOptions::open(Console& console) const {
  const bool built = is_engine(path);
  const compiler::CheckpointOptions options{.context = context,
                                            .lora = lora,
                                            .weights = compiler::stored_weights_named(weights),
                                            .kv = compiler::cache_type_named(kv),
                                            .activations = compiler::activations_named(activations),
                                            .window = window,
                                            .sinks = sinks,
                                            .config = TRY(compiler::build_config_of(build_config, "")),
                                            .states = states};
  if (const std::string_view flag = options.flag(); built && !flag.empty())
    return fail(Code::bad_usage, std::string(flag), "the option is one of a build, and an engine is built already")
        .expected("a GGUF file, a Hugging Face folder or an ONNX decoder")
        .found(path + ", an engine")
        .advice("give the option to `tenon build`");
  const std::filesystem::path file =
      built ? std::filesystem::path(path) : TRY(compiler::cached_engine(path, options, messages_on(console)));
  auto engine = TRY(compiler::load(file, {.threads = threads}));
  return llm::make_model(std::move(engine), TRY(llm::read_engine_text(file)), path);
}

Result<llm::Tokenizer> open_tokenizer(const std::string& path) {
  if (is_engine(path)) return llm::tokenizer_of(TRY(llm::read_engine_text(path)), path);
  return llm::read_tokenizer(path);
}

}  // namespace tenon::cli
