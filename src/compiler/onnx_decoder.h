// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::compiler {

/// The path of the ONNX decoder of a folder: the file that genai_config.json names, model.onnx, decoder_model_merged.onnx or
/// decoder_with_past_model.onnx, in the folder or in its subfolder onnx. nullopt: there is none, or the folder has safetensors, which are
/// read in place of it.
std::optional<std::filesystem::path> onnx_decoder_in(const std::filesystem::path& folder);

/// Whether `--state` makes a decoder of an ONNX model: "auto" or "auto:CAPACITY".
bool makes_decoder(const std::vector<std::string>& states);

/// `states` with a capacity added to "auto": `context`; where that is 0, that of genai_config.json or config.json beside the model, where
/// they name one. Errors: bad_usage (a context that is longer than that of the model), bad_file (no JSON).
Result<std::vector<std::string>> states_of_decoder(const std::filesystem::path& model, const std::vector<std::string>& states,
                                                   int64_t context);

/// The files on which the engine of an ONNX decoder depends: the model, those with its name (external data), weights and configuration
/// beside it.
std::vector<std::filesystem::path> files_of_onnx_decoder(const std::filesystem::path& model);

}  // namespace tenon::compiler
