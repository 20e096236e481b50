// SPDX-License-Identifier: Apache-2.0
#include "llm/text/json_tokenizer.h"

#include <fmt/format.h>

#include "files/printable.h"
#include "llm/text/end_names.h"
#include "llm/text/json_steps.h"

namespace tenon::llm {
namespace {

Error bad(std::string_view place, std::string what, std::string expected, std::string found) {
  return fail(Code::bad_file, std::string(place), std::move(what)).expected(std::move(expected)).found(std::move(found));
}

/// Refuses what changes the tokens of a model in a way that is not computed here.
Result<void> check_model(const Json& model, std::string_view place) {
  const std::string type = type_of_step(model);
  if (!type.empty() && type != "BPE")
    return fail(Code::not_supported, std::string(place), fmt::format("not supported yet: the tokenizer model {}", files::printable(type)))
        .expected("BPE")
        .found(files::printable(type));
  for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!text_member(model, key).value_or("").empty())
      return fail(Code::not_supported, std::string(place), fmt::format("not supported yet: {} of a BPE model", key))
          .expected("none")
          .found(files::printable(*text_member(model, key)));
  const Json* dropout = member(model, "dropout");
  if (dropout && !(dropout->is_number() && dropout->get<double>() == 0))
    return fail(Code::not_supported, std::string(place), "not supported yet: dropout of a BPE model")
        .expected("none")
        .found("a probability");
  return {};
}

Result<void> read_model(const TokenizerDocument& document, BytePairs& out, std::string_view place) {
  const Json* model = member(document.rest, "model");
  if (model) TRY(check_model(*model, place));
  if (!model || document.vocabulary.empty())
    return bad(place, "a tokenizer has no model with a vocabulary", "\"model\": {\"vocab\": {...}, ...}", "none");
  int64_t highest = 0;
  for (const auto& [text, id] : document.vocabulary) highest = std::max(highest, id);
  if (highest > 2 * static_cast<int64_t>(document.vocabulary.size()) + 1000)
    return bad(place, "the ids of a vocabulary have wide gaps", fmt::format("about {} ids", document.vocabulary.size()),
               fmt::format("id {}", highest));
  out.vocabulary.reserve(document.vocabulary.size());
  for (const auto& [text, id] : document.vocabulary) TRY(out.vocabulary.add(text, id, place));
  out.merges.reserve(document.merges.size());
  for (const auto& [left, right] : document.merges) TRY(out.merges.add(left, right, out.vocabulary, place));
  out.byte_fallback = flag_member(*model, "byte_fallback", false);
  out.fuse_unknown = flag_member(*model, "fuse_unk", false);
  out.whole_words = flag_member(*model, "ignore_merges", false);
  if (const auto unknown = text_member(*model, "unk_token")) {
    out.unknown = out.vocabulary.find(*unknown);
    if (out.unknown == kNoToken) return bad(place, "unk_token is not in the vocabulary", "one of its tokens", files::printable(*unknown));
  }
  return {};
}

Result<void> read_added(const Json& document, TokenizerParts& parts, std::string_view place) {
  const Json* added = member(document, "added_tokens");
  if (!added) return {};
  const auto most = static_cast<int64_t>(2 * (parts.model.vocabulary.size() + added->size()) + 1000);
  for (const Json& token : *added) {
    const auto content = text_member(token, "content");
    const auto id = integer_member(token, "id");
    if (!content || !id || *id < 0 || *id > most)
      return bad(place, "an added token has no content or no sound id", "{\"id\": 5, \"content\": \"<s>\", ...}", "another value");
    parts.added.push_back({.text = *content,
                           .id = static_cast<TokenId>(*id),
                           .special = flag_member(token, "special", false),
                           .normalized = flag_member(token, "normalized", true),
                           .strips_left = flag_member(token, "lstrip", false),
                           .strips_right = flag_member(token, "rstrip", false),
                           .single_word = flag_member(token, "single_word", false)});
  }
  return {};
}

std::optional<TokenId> id_of(const TokenizerParts& parts, std::string_view text) {
  for (const AddedToken& token : parts.added)
    if (token.text == text) return token.id;
  const TokenId id = parts.model.vocabulary.find(text);
  return id == kNoToken ? std::nullopt : std::optional(id);
}

/// The token that tokenizer_config.json names, as text or as {"content": ...}.
std::optional<TokenId> configured(const Json& config, std::string_view key, const TokenizerParts& parts) {
  const Json* value = member(config, key);
  if (!value) return std::nullopt;
  const auto text = value->is_string() ? std::optional(value->get<std::string>()) : text_member(*value, "content");
  return text ? id_of(parts, *text) : std::nullopt;
}

/// The tokens of "eos_token_id": one, or a list.
void add_ends(const Json& config, std::vector<TokenId>& ends) {
  const Json* end = member(config, "eos_token_id");
  if (!end) return;
  for (const Json& id : end->is_array() ? *end : Json::array({*end}))
    if (id.is_number_unsigned() && id.get<uint64_t>() < static_cast<uint64_t>(kMostTokens)) ends.push_back(id.get<TokenId>());
}

Result<void> read_special(const TokenizerFiles& files, TokenizerParts& parts, std::string_view place) {
  SpecialTokens& special = parts.special;
  if (!files.tokenizer_config.empty()) {
    const Json config = TRY(read_json_object(files.tokenizer_config, fmt::format("{}/tokenizer_config.json", place)));
    special.begin = configured(config, "bos_token", parts);
    special.end = configured(config, "eos_token", parts);
    special.unknown = configured(config, "unk_token", parts);
    special.padding = configured(config, "pad_token", parts);
  }
  if (!special.unknown && parts.model.unknown != kNoToken) special.unknown = parts.model.unknown;
  auto& ends = special.end_of_generation;
  for (const std::string_view name : kEndNames)
    if (const auto id = id_of(parts, name)) ends.push_back(*id);
  if (!files.generation_config.empty())
    add_ends(TRY(read_json_object(files.generation_config, fmt::format("{}/generation_config.json", place))), ends);
  if (files.genai_config.empty()) return {};
  const Json config = TRY(read_json_object(files.genai_config, fmt::format("{}/genai_config.json", place)));
  if (const Json* model = member(config, "model")) add_ends(*model, ends);
  return {};
}

}  // namespace

Result<Tokenizer> json_tokenizer(const TokenizerFiles& files, std::string_view place) {
  const TokenizerDocument document = TRY(read_tokenizer_document(files.tokenizer, place));
  TokenizerParts parts;
  TRY(read_model(document, parts.model, place));
  TRY(read_added(document.rest, parts, place));
  parts.normalizers = TRY(json_normalizers(member(document.rest, "normalizer"), place));
  parts.pre_tokenizers = TRY(json_pre_tokenizers(member(document.rest, "pre_tokenizer"), place));
  parts.decoding = TRY(json_decoding(member(document.rest, "decoder"), place));
  parts.added_are_literal = parts.decoding.byte_level;
  TRY(read_post_processor(member(document.rest, "post_processor"), parts, place));
  TRY(read_special(files, parts, place));
  return Tokenizer::make(std::move(parts), place);
}

}  // namespace tenon::llm
