// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/text/pieces.h"
#include "llm/text/unicode.h"

namespace tenon::llm {

/// What is made of a text before it is cut to pieces: sound UTF-8 in, sound UTF-8 out. These are the types of tokenizer.json's normalizers:
/// NFC, NFD, NFKC and NFKD, Lowercase, Replace, Prepend, Strip, StripAccents, ByteLevel.
/// Source: the documentation of PyPI tokenizers.
using Normalizer = std::function<Result<std::string>(std::string text)>;

Normalizer normal_form(NormalForm form);
Normalizer lower_cased();
/// Each match becomes `content`.
Normalizer replaced(Finder find, std::string content);
/// Texts that are not empty begin with `content`.
Normalizer prepended(std::string content);
/// Without white space at the left and at the right end.
Normalizer stripped(bool left, bool right);
/// Without combining marks.
Normalizer without_accents();
/// In GPT-2's alphabet of bytes.
Normalizer byte_characters();

}  // namespace tenon::llm
