// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "llm/text/json_document.h"
#include "llm/text/tokenizer.h"

namespace tenon::llm {

/// The steps that a tokenizer.json names, from its members `normalizer`, `pre_tokenizer`, `post_processor` and `decoder`.
/// Errors: bad_file (fields that are missing or of another kind), not_supported (other steps, by name).
/// Source: the sources and the documentation of PyPI tokenizers.
Result<std::vector<Normalizer>> json_normalizers(const Json* step, std::string_view place);
Result<std::vector<PreTokenizer>> json_pre_tokenizers(const Json* step, std::string_view place);
Result<Decoding> json_decoding(const Json* step, std::string_view place);
/// Reads the post-processor: the tokens before and after each text.
Result<void> read_post_processor(const Json* step, TokenizerParts& parts, std::string_view place);

/// For errors: a step's `type`, "" where it has none; one that is not supported; one without a field.
std::string type_of_step(const Json& step);
Error unsupported_step(std::string_view kind, const Json& step, std::string_view place);
Error incomplete_step(std::string_view kind, const Json& step, std::string_view field, std::string_view place);

}  // namespace tenon::llm
