// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>

#include "files/language_text.h"

namespace tenon::nn {

/// Whether a model of so many rows of embeddings has one for each token of its tokenizer, and for the tokens that begin and end a text
/// (bos, eos, eot, eom). More rows than tokens are usual. text: of the checkpoint; without a tokenizer nothing is checked, since nothing
/// reads these ids then. Of a folder config.json is read too. What is no JSON is left to the tokenizer's reader.
/// Errors: bad_input, which names the file and the field. Cost: one pass over tokenizer.json.
Result<void> check_token_ids(const files::LanguageText& text, const std::filesystem::path& checkpoint, int64_t rows);

}  // namespace tenon::nn
