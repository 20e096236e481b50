// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tenon::llm {

using Json = nlohmann::json;

/// A parsed tokenizer.json: vocabulary and merges, which are large, in file order, and the rest as JSON.
struct TokenizerDocument {
  Json rest;  ///< without model.vocab's and model.merges' contents
  std::vector<std::pair<std::string, int64_t>> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges;  ///< stored as "a b" or as ["a", "b"]
};

/// Errors: bad_file (no JSON, objects nested over 64 deep, a vocabulary or merges of another form, a token that appears twice).
Result<TokenizerDocument> read_tokenizer_document(std::string_view text, std::string_view place);
/// A small JSON file whose top is an object. Errors: bad_file.
Result<Json> read_json_object(std::string_view text, std::string_view place);

/// A member of an object; nullptr where the value is no object, the member is missing or null.
const Json* member(const Json& object, std::string_view key);
std::optional<std::string> text_member(const Json& object, std::string_view key);
std::optional<int64_t> integer_member(const Json& object, std::string_view key);
bool flag_member(const Json& object, std::string_view key, bool otherwise);

}  // namespace tenon::llm
