// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "llm/session/model.h"

namespace CLI {
class App;
}

namespace tenon::cli {

class Console;

/// The options of verbs that run a language model: MODEL, --context, --state, --lora, --weights, --kv, --activations, --window, --sinks,
/// --build-config,
/// --threads.
struct LanguageModelOptions {
  std::string path;
  int64_t context = 0;
  std::vector<std::string> lora;  ///< FILE or FILE=SCALE
  std::string weights = "keep";
  std::string kv = "f32";
  std::string activations = "f32";
  int64_t window = 0, sinks = 0;
  std::string build_config;         ///< a JSON file
  std::vector<std::string> states;  ///< of an ONNX decoder
  int threads = 0;

  void add_to(CLI::App& app);
  /// Loads an engine; of a checkpoint that in the user's cache (compiler::cached_engine). Errors: those; bad_usage (options of a
  /// build for an engine); those of llm::make_model.
  Result<std::shared_ptr<const llm::Model>> open(Console& console) const;
};

/// The tokenizer of an engine or a checkpoint, which is not built for it. Errors: those of llm::read_tokenizer.
Result<llm::Tokenizer> open_tokenizer(const std::string& path);

}  // namespace tenon::cli
