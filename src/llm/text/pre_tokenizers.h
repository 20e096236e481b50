// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "base/result.h"
#include "llm/text/pieces.h"

namespace tenon::llm {

/// Splits pieces into smaller ones; no token crosses their boundaries. Names are those of tokenizer.json.
/// Source: the documentation of PyPI tokenizers.
using PreTokenizer = std::function<Result<void>(Pieces&)>;

/// Splits at the matches of a finder.
PreTokenizer split_by(Finder find, SplitBehavior behavior, bool inverted = false);
/// GPT-2's alphabet of bytes, with GPT-2's regular expression before it; `prefix_space`: each piece begins with a space.
/// Errors: those of the expression.
PreTokenizer byte_level(bool prefix_space, bool use_regex);
/// Splits numbers (Nd, Nl, No) from other characters, each digit by itself or in runs.
PreTokenizer digits(bool individual);
enum class PrependScheme : uint8_t { always, first, never };
/// Spaces become `replacement` (mostly U+2581), which also comes in front of a piece, of all or of the text's first; split: a piece a word.
PreTokenizer metaspace(std::string replacement, PrependScheme prepend, bool split);
/// Splits at ASCII's punctuation and symbols, and at Unicode's punctuation.
PreTokenizer punctuation(SplitBehavior behavior);
/// Splits at white space, which is removed; words: also between words and runs of other characters.
PreTokenizer white_space(bool words);

}  // namespace tenon::llm
