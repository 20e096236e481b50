// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/text/pre_tokenizers.h"

namespace tenon::llm {

/// The pre-tokenizer that a value of `tokenizer.ggml.pre` names.
struct PreName {
  std::vector<PreTokenizer> steps;
  bool whole_words = false;  ///< a word that is a token is not merged
  bool adds_begin = false;   ///< unless `tokenizer.ggml.add_bos_token` says otherwise
};

/// The pre-tokenizer of a name; "" is "default".
/// Errors: not_supported (another name, with the nearest). Source: the tokenizer.json of the models that the names are of;
/// llama.cpp's src/llama-vocab.cpp for which name is which.
Result<PreName> pre_tokenizer_named(std::string_view name, std::string_view place);

}  // namespace tenon::llm
