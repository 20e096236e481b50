// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"

namespace tenon::files {

/// The files of a checkpoint that describe text, and what its build says of sessions. The numbers are in engine files for ever: tags of
/// their sections.
enum class TextPart : uint32_t {
  gguf_metadata = 1,      ///< a GGUF file without tensors: tokenizer.*
  tokenizer = 2,          ///< tokenizer.json
  tokenizer_config = 3,   ///< tokenizer_config.json
  generation_config = 4,  ///< generation_config.json
  chat_template = 5,      ///< chat_template.jinja
  session_limits = 6,     ///< JSON: max_input_len, opt_num_tokens (llm::SessionLimits); of no file
  genai_config = 7,       ///< genai_config.json
};

/// What a language model's tokenizer and chat template are made of, as its checkpoint has it; only parts that are there.
using LanguageText = std::map<TextPart, std::string>;

/// Whether the file is an ONNX model, by its name.
bool is_onnx(const std::filesystem::path& file);

/// Of a GGUF file, of a folder of Hugging Face, or of an ONNX model the files beside it, or, where its folder is named onnx and has no
/// tokenizer, beside that. Empty where there is no text. Cost: reads the small files, or copies the tokenizer's
/// metadata. Errors: those of read_gguf; file_missing, limit_exceeded (a file of over 256 MB).
Result<LanguageText> read_language_text(const std::filesystem::path& checkpoint);

}  // namespace tenon::files
