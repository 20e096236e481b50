// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/text/pieces.h"
#include "llm/text/unicode.h"

namespace tenon::llm {

/// A normalization of a text before it is split: from valid UTF-8 to valid UTF-8. These are the types of tokenizer.json's normalizers:
/// NFC, NFD, NFKC and NFKD, Lowercase, Replace, Prepend, Strip, StripAccents, ByteLevel.
/// Source: the documentation of PyPI tokenizers.
using Normalizer = std::function<Result<std::string>(std::string text)>;

Normalizer normal_form(NormalForm form);
Normalizer lower_cased();
/// Replaces each match by `content`.
Normalizer replaced(Finder find, std::string content);
/// Puts `content` before texts that are not empty.
Normalizer prepended(std::string content);
/// Removes white space at the left end, the right end, or both.
Normalizer stripped(bool left, bool right);
/// Removes combining marks.
Normalizer without_accents();
/// Writes the bytes in GPT-2's alphabet of bytes.
Normalizer byte_characters();

}  // namespace tenon::llm
