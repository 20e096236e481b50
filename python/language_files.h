// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tenon_python {

/// Options of a checkpoint, compiler::CheckpointOptions in plain types; weights: "keep", "int8", ...; kv, activations: "f32", ...
struct LanguageFileOptions {
  int64_t context = 0;
  std::vector<std::string> lora = {};
  std::string weights = "keep";
  std::string kv = "f32";
  std::string activations = "f32";
  int64_t window = 0;
  int64_t sinks = 0;
  std::string build_config_file = {};  ///< JSON
  std::string build_config_text = {};  ///< JSON text, in place of the file
  std::vector<std::string> states = {};
};

/// The engine file of a language model: the file itself where it is one, else that of the checkpoint in the user's cache, built without the
/// GIL where it is not there yet. Raises TenonError: bad_usage for such options of an engine; those of compiler::cached_engine.
std::filesystem::path engine_file(const std::filesystem::path& model, const LanguageFileOptions& options);

}  // namespace tenon_python
