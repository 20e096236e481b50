// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"

namespace tenon::files {

/// A file of a language model that describes its text: tokenizer, chat template, generation settings; or the session limits of its build.
/// The values are section tags in engine files and never change.
enum class TextAsset : uint32_t {
  gguf_metadata = 1,      ///< a GGUF file without tensors: tokenizer.*
  tokenizer = 2,          ///< tokenizer.json
  tokenizer_config = 3,   ///< tokenizer_config.json
  generation_config = 4,  ///< generation_config.json
  chat_template = 5,      ///< chat_template.jinja
  session_limits = 6,     ///< JSON: max_input_len, opt_num_tokens (llm::SessionLimits); of no file
  genai_config = 7,       ///< genai_config.json
};

/// The bytes of a language model's text assets by kind. Kinds that the checkpoint lacks have no entry.
using TextAssets = std::map<TextAsset, std::string>;

/// Whether the file's name ends in .onnx.
bool is_onnx(const std::filesystem::path& file);

/// The folder of the text assets: a Hugging Face folder itself; of an ONNX model the one that has it, or, where that is named onnx and has
/// no tokenizer, the one around it.
std::filesystem::path language_folder(const std::filesystem::path& checkpoint);

/// Reads the text assets of a checkpoint: from a GGUF file, or from the files of language_folder. Empty where there are none. Cost: reads
/// the small files, or copies the tokenizer's metadata. Errors: those of read_gguf; file_missing, limit_exceeded (a file of more than 256
/// MB).
Result<TextAssets> read_text_assets(const std::filesystem::path& checkpoint);

}  // namespace tenon::files
