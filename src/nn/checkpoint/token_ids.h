// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "files/text_assets.h"

namespace tenon::nn {

/// What a model has for each token of its vocabulary.
struct VocabularyRows {
  int64_t count = 0;
  std::string_view name = "rows of embeddings";  ///< for errors
};

/// Whether a model has a row for each token of its tokenizer, and for the tokens that begin and end a text (bos, eos, eot, eom). More rows
/// than tokens are usual. text: of the checkpoint (files::read_text_assets), which is a GGUF file, a folder or an ONNX model; without a
/// tokenizer nothing is checked, since nothing reads these ids then. Of a folder config.json is read too. What is no JSON is left to the
/// tokenizer's reader. Errors: bad_input, which names the file and the field. Cost: one pass over tokenizer.json.
Result<void> check_token_ids(const files::TextAssets& text, const std::filesystem::path& checkpoint, VocabularyRows rows);

}  // namespace tenon::nn
