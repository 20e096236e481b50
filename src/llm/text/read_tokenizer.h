// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string_view>

#include "files/text_assets.h"
#include "llm/text/tokenizer.h"

namespace tenon::llm {

/// The tokenizer that an engine or a checkpoint describes. `place`: the location in errors.
/// Errors: those of gguf_tokenizer() and json_tokenizer(); bad_file where the text describes no tokenizer.
Result<Tokenizer> tokenizer_of(const files::TextAssets& text, std::string_view place);

/// The tokenizer of a GGUF checkpoint, of a Hugging Face folder, or of a tokenizer.json alone. The file is not mapped when this returns.
/// Errors: file_missing, limit_exceeded (a tokenizer file of more than 256 MB), and those of tokenizer_of().
Result<Tokenizer> read_tokenizer(const std::filesystem::path& path);

}  // namespace tenon::llm
