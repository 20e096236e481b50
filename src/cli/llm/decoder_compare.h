// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cli/options/engine_options.h"
#include "cli/options/input_options.h"

namespace tenon::cli {

/// The options of `tenon compare` for a language model's checkpoint.
struct DecoderComparison {
  EngineOptions engine;
  InputOptions inputs;  ///< tokens=FILE.npy, or random ones
  std::optional<int64_t> tokens;
  std::string with = "reference";
};

/// Runs the tokens one after the other, and compares the logits of each with those of the fp64 reference on the same weights: root mean
/// square and largest error, and how often the likeliest token is the same. Also those of llama.cpp, with --with llama.cpp.
/// Errors: device_failed where rounding does not explain the error; bad_usage, bad_input (tokens); those of reading, compiling, running.
/// Cost: an evaluation by reference of all tokens, a second for 100 MFLOP.
Result<void> compare_decoder(const DecoderComparison& comparison, Console& console);

/// Whether the file or folder is a language model's checkpoint: GGUF, or a Hugging Face folder.
bool is_checkpoint(const std::string& path);

}  // namespace tenon::cli
