// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "llm/text/tokenizer.h"

namespace tenon::llm {

/// The files of a Hugging Face folder that describe its tokenizer; "" for those that it lacks.
struct TokenizerFiles {
  std::string_view tokenizer;          ///< tokenizer.json
  std::string_view tokenizer_config;   ///< tokenizer_config.json: which tokens begin and end a text
  std::string_view generation_config;  ///< generation_config.json: which tokens end an answer
  std::string_view genai_config = {};  ///< genai_config.json: the same, of onnxruntime-genai
};

/// A byte pair encoding of PyPI tokenizers. `truncation` and `padding` are left out: nothing is cut, nothing is added.
/// Errors: bad_file, not_supported (another model, a normalizer, pre-tokenizer, post-processor or decoder, by name), limit_exceeded.
Result<Tokenizer> json_tokenizer(const TokenizerFiles& files, std::string_view place);

}  // namespace tenon::llm
