// SPDX-License-Identifier: Apache-2.0
#include "llm/text/gguf_tokenizer.h"

#include <fmt/format.h>

#include <cmath>

#include "files/printable.h"
#include "llm/text/end_names.h"
#include "llm/text/pre_names.h"

namespace tenon::llm {
namespace {

using files::GgufValue;

constexpr std::string_view kPrefix = "tokenizer.ggml.";
constexpr std::string_view kSpace = "\u2581";
/// Kinds of tokens; the numbers are in the file.
enum TokenType : int64_t { kUnknown = 2, kControl = 3, kUserDefined = 4, kByte = 6 };

class Reader {
 public:
  Reader(const files::Gguf& file, std::string_view place) : file_(file), place_(place) {}
  Result<Tokenizer> run();

 private:
  const GgufValue* find(std::string_view key) const { return file_.find(fmt::format("{}{}", kPrefix, key)); }
  Error bad(std::string_view key, std::string_view what, std::string expected, std::string found) const {
    return fail(Code::bad_file, std::string(place_), fmt::format("{}{} {}", kPrefix, key, what))
        .expected(std::move(expected))
        .found(std::move(found));
  }
  template <class T>
  Result<T> value(std::string_view key, std::optional<T> (GgufValue::*read)() const, std::string_view kind, T otherwise) const {
    const GgufValue* v = find(key);
    if (!v) return otherwise;
    auto out = (v->*read)();
    if (!out) return bad(key, "is of another kind", std::string(kind), std::string(files::name_of(v->type)));
    return std::move(*out);
  }
  Result<std::optional<TokenId>> id(std::string_view key, std::optional<TokenId> otherwise) const;
  Result<void> read_tokens();
  Result<void> read_scores();
  Result<void> read_merges();
  Result<void> read_special(bool sentence_piece, bool adds_begin);
  void read_sentence_piece(bool space_prefix);

  const files::Gguf& file_;
  std::string_view place_;
  TokenizerParts parts_;
  std::vector<int64_t> types_;  // by token
};

Result<std::optional<TokenId>> Reader::id(std::string_view key, std::optional<TokenId> otherwise) const {
  const int64_t found = TRY(value<int64_t>(key, &GgufValue::integer, "an integer", otherwise.value_or(kNoToken)));
  if (found < 0 || found == UINT32_MAX) return std::nullopt;
  if (!find(key) && !parts_.model.vocabulary.has(*otherwise)) return std::nullopt;
  if (found >= kMostTokens || !parts_.model.vocabulary.has(static_cast<TokenId>(found)))
    return bad(key, "is no token", fmt::format("an id below {}", parts_.model.vocabulary.size()), fmt::format("{}", found));
  return static_cast<TokenId>(found);
}

Result<void> Reader::read_tokens() {
  const auto tokens = TRY(value("tokens", &GgufValue::texts, "an array of strings", std::vector<std::string_view>()));
  if (tokens.empty()) return bad("tokens", "is missing or empty", "the texts of all tokens", "none");
  types_ = TRY(value("token_type", &GgufValue::integers, "an array of integers", std::vector<int64_t>(tokens.size(), 1)));
  if (types_.size() != tokens.size())
    return bad("token_type", "has another length than the tokens", fmt::format("{}", tokens.size()), fmt::format("{}", types_.size()));
  parts_.model.vocabulary.reserve(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto token = static_cast<TokenId>(i);
    if (tokens[i].empty()) continue;
    TRY(parts_.model.vocabulary.add(tokens[i], token, place_));
    if (types_[i] == kControl || types_[i] == kUnknown || types_[i] == kUserDefined)
      parts_.added.push_back({.text = std::string(tokens[i]), .id = token, .special = types_[i] != kUserDefined});
  }
  return {};
}

Result<void> Reader::read_scores() {
  const auto scores = TRY(value("scores", &GgufValue::numbers, "an array of numbers", std::vector<double>()));
  if (scores.size() != types_.size())
    return bad("scores", "is missing or of another length than the tokens", fmt::format("{}", types_.size()),
               fmt::format("{}", scores.size()));
  auto& reserved = parts_.model.reserved;
  reserved.resize(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) return bad("scores", "has a score that is no number", "numbers", fmt::format("nan for token {}", i));
    parts_.model.scores.push_back(static_cast<float>(scores[i]));
    reserved[i] = types_[i] == kControl || types_[i] == kUnknown || types_[i] == kByte;
  }
  return {};
}

Result<void> Reader::read_merges() {
  const auto merges = TRY(value("merges", &GgufValue::texts, "an array of strings", std::vector<std::string_view>()));
  if (!find("merges")) return bad("merges", "is missing", "pairs of tokens", "none");
  parts_.model.merges.reserve(merges.size());
  for (const std::string_view merge : merges) {
    const size_t space = merge.size() < 2 ? std::string_view::npos : merge.find(' ', 1);
    if (space == std::string_view::npos)
      return bad("merges", "has an entry that is no pair", "two tokens with a space between", fmt::format("'{}'", files::printable(merge)));
    TRY(parts_.model.merges.add(merge.substr(0, space), merge.substr(space + 1), parts_.model.vocabulary, place_));
  }
  return {};
}

/// Begin, end and others; what is put around a text.
Result<void> Reader::read_special(bool sentence_piece, bool adds_begin) {
  const auto by_default = [&](TokenId id) { return sentence_piece ? std::optional(id) : std::nullopt; };
  SpecialTokens& special = parts_.special;
  special.unknown = TRY(id("unknown_token_id", by_default(0)));
  special.begin = TRY(id("bos_token_id", by_default(1)));
  special.end = TRY(id("eos_token_id", by_default(2)));
  special.padding = TRY(id("padding_token_id", std::nullopt));
  for (const std::string_view key : {"eot_token_id", "eom_token_id"})
    if (const auto end = TRY(id(key, std::nullopt))) special.end_of_generation.push_back(*end);
  for (const std::string_view name : kEndNames)
    if (const TokenId end = parts_.model.vocabulary.find(name); end != kNoToken) special.end_of_generation.push_back(end);
  if (TRY(value<bool>("add_bos_token", &GgufValue::boolean, "a boolean", adds_begin))) {
    if (!special.begin) return bad("add_bos_token", "needs a token", "tokenizer.ggml.bos_token_id", "none");
    parts_.prefix.push_back(*special.begin);
  }
  if (TRY(value<bool>("add_eos_token", &GgufValue::boolean, "a boolean", false))) {
    if (!special.end) return bad("add_eos_token", "needs a token", "tokenizer.ggml.eos_token_id", "none");
    parts_.suffix.push_back(*special.end);
  }
  return {};
}

/// Spaces are U+2581, also in front of a text and behind special tokens.
void Reader::read_sentence_piece(bool space_prefix) {
  if (space_prefix) parts_.normalizers.push_back(prepended(" "));
  parts_.normalizers.push_back(replaced(find_text(" "), std::string(kSpace)));
  parts_.model.byte_fallback = true;
  parts_.decoding.bytes = true;
  parts_.decoding.replacements = {{std::string(kSpace), " "}};
  parts_.decoding.stripped = " ";
  parts_.decoding.most_stripped = space_prefix ? 1 : 0;
}

Result<Tokenizer> Reader::run() {
  const auto model = TRY(value<std::string_view>("model", &GgufValue::text, "a string", ""));
  const bool sentence_piece = model == "llama";
  if (model.empty()) return bad("model", "is missing", "the kind of tokenizer", "none");
  if (!sentence_piece && model != "gpt2")
    return fail(Code::not_supported, std::string(place_), fmt::format("not supported yet: the tokenizer '{}'", files::printable(model)))
        .expected("gpt2 (byte pair encoding) or llama (SentencePiece)")
        .found(files::printable(model));
  TRY(read_tokens());
  bool adds_begin = true;
  if (sentence_piece) {
    TRY(read_scores());
    read_sentence_piece(TRY(value<bool>("add_space_prefix", &GgufValue::boolean, "a boolean", true)));
  } else {
    TRY(read_merges());
    PreName pre = TRY(pre_tokenizer_named(TRY(value<std::string_view>("pre", &GgufValue::text, "a string", "")), place_));
    parts_.pre_tokenizers = std::move(pre.steps);
    parts_.model.whole_words = pre.whole_words;
    parts_.decoding.byte_level = true;
    adds_begin = pre.adds_begin;
  }
  TRY(read_special(sentence_piece, adds_begin));
  if (sentence_piece && parts_.special.unknown) parts_.model.unknown = *parts_.special.unknown;
  parts_.added_are_literal = true;
  return Tokenizer::make(std::move(parts_), place_);
}

}  // namespace

Result<Tokenizer> gguf_tokenizer(const files::Gguf& file, std::string_view place) { return Reader(file, place).run(); }

}  // namespace tenon::llm
