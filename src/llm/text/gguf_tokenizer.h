// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "files/gguf.h"
#include "llm/text/tokenizer.h"

namespace tenon::llm {

/// The tokenizer in a checkpoint's metadata: `tokenizer.ggml.model` is "gpt2" (byte pair encoding of bytes) or "llama" (SentencePiece's,
/// merged by scores). Copies what it needs.
/// Errors: bad_file (keys that are missing, of another kind or length; tokens that appear twice; merges that are unknown or cyclic; ids
/// without a token), not_supported (another model or pre-tokenizer), limit_exceeded. Source: ggml's docs/gguf.md; llama.cpp's
/// src/llama-vocab.cpp for what is there by default.
Result<Tokenizer> gguf_tokenizer(const files::Gguf& file, std::string_view place);

}  // namespace tenon::llm
