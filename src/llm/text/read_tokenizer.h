// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "llm/text/tokenizer.h"

namespace tenon::llm {

/// The tokenizer of a GGUF checkpoint, of a folder of Hugging Face (tokenizer.json, beside it tokenizer_config.json and
/// generation_config.json), or of a tokenizer.json. Nothing of the file stays mapped.
/// Errors: file_missing, and those of gguf_tokenizer() and json_tokenizer(); limit_exceeded (JSON of over 256 MB).
Result<Tokenizer> read_tokenizer(const std::filesystem::path& path);

}  // namespace tenon::llm
