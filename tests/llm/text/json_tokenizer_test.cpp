// SPDX-License-Identifier: Apache-2.0
#include "llm/text/json_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tenon::llm {
namespace {

using nlohmann::json;

json small() {
  return json::parse(R"({
    "added_tokens": [{"id": 5, "content": "<s>", "special": true, "normalized": false}, {"id": 6, "content": "<|end|>", "special": true}],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [5], "tokens": ["<s>"]}}},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4}, "merges": [["a", "b"], ["Ġ", "ab"]]}
  })");
}

Result<Tokenizer> read(const json& document, std::string_view config = "", std::string_view generation = "") {
  return json_tokenizer({document.dump(), config, generation}, "tokenizer.json");
}

/// The error of the document with one part replaced, by JSON pointer.
std::string refused(const char* place, const char* value) {
  json document = small();
  document[json::json_pointer(place)] = json::parse(value);
  const auto t = read(document);
  if (t) return "";
  EXPECT_FALSE(t.error()->expected.empty() || t.error()->found.empty()) << t.error().text();
  EXPECT_EQ(t.error()->place, "tokenizer.json");
  return std::string(name_of(t.error().code())) + ": " + t.error()->what;
}

TEST(JsonTokenizer, ReadsAllParts) {
  const auto t = read(small());
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(*t->encode("AB ab"), (std::vector<TokenId>{5, 3, 4}));
  EXPECT_EQ(*t->encode("ab<|END|>", {.add_special = false}), (std::vector<TokenId>{3, 6}));  // found in the normalized text
  EXPECT_EQ(t->decode(std::vector<TokenId>{5, 3, 4, 6}), "ab ab");
  EXPECT_TRUE(t->ends_generation(6));
  json document = small();
  document["model"]["merges"] = {"a b", "Ġ ab"};
  EXPECT_EQ(*read(document)->encode("ab ab"), (std::vector<TokenId>{5, 3, 4}));
}

TEST(JsonTokenizer, OtherFilesNameSpecialTokens) {
  const auto t =
      read(small(), R"({"bos_token": {"content": "<s>"}, "eos_token": "<s>", "pad_token": null})", R"({"eos_token_id": [5, 6]})");
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->special().begin, 5);
  EXPECT_EQ(t->special().end, 5);
  EXPECT_EQ(t->special().padding, std::nullopt);
  EXPECT_EQ(t->special().end_of_generation, (std::vector<TokenId>{5, 6}));
}

TEST(JsonTokenizer, GenaiConfigNamesTokensThatEndAnAnswer) {
  const std::string document = small().dump();
  const auto t = json_tokenizer({document, "", "", R"({"model": {"eos_token_id": [4, 6]}})"}, "tokenizer.json");
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_TRUE(t->ends_generation(4));
  EXPECT_FALSE(t->ends_generation(3));
}

TEST(JsonTokenizer, WhatIsNotComputedIsRefusedByName) {
  EXPECT_EQ(refused("/model/type", R"("Unigram")"), "not_supported: not supported yet: the tokenizer model Unigram");
  EXPECT_EQ(refused("/model", R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.5]]})"),
            "not_supported: not supported yet: the tokenizer model Unigram");
  EXPECT_EQ(refused("/model/dropout", "0.1"), "not_supported: not supported yet: dropout of a BPE model");
  EXPECT_EQ(refused("/model/end_of_word_suffix", R"("</w>")"), "not_supported: not supported yet: end_of_word_suffix of a BPE model");
  EXPECT_EQ(refused("/normalizer", R"({"type": "Precompiled"})"), "not_supported: not supported yet: the normalizer Precompiled");
  EXPECT_EQ(refused("/pre_tokenizer", R"({"type": "BertPreTokenizer"})"),
            "not_supported: not supported yet: the pre-tokenizer BertPreTokenizer");
  EXPECT_EQ(refused("/post_processor", R"({"type": "BertProcessing"})"),
            "not_supported: not supported yet: the post-processor BertProcessing");
  EXPECT_EQ(refused("/decoder", R"({"type": "WordPiece"})"), "not_supported: not supported yet: the decoder WordPiece");
  EXPECT_EQ(refused("/decoder", R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})"),
            "not_supported: not supported yet: the decoder Strip at this place");
}

TEST(JsonTokenizer, DamageIsOneErrorEach) {
  EXPECT_EQ(refused("/model/vocab", "{}"), "bad_file: a tokenizer has no model with a vocabulary");
  EXPECT_EQ(refused("/model/vocab", R"(["a"])"), "bad_file: a tokenizer has no model with a vocabulary");
  EXPECT_EQ(refused("/model/vocab", R"({"a": -1})"), "bad_file: not a sound tokenizer file");
  EXPECT_EQ(refused("/model/vocab", R"({"a": {"b": 1}})"), "bad_file: not a sound tokenizer file");
  EXPECT_EQ(refused("/model/vocab", R"({"a": 0, "b": 0})"), "bad_file: a token appears twice in the vocabulary");
  EXPECT_EQ(refused("/model/vocab", R"({"a": 2000000000})"), "bad_file: the ids of a vocabulary have wide gaps");
  EXPECT_EQ(refused("/model/merges", R"([["a", "a"]])"), "bad_file: merge 0 is unknown to the vocabulary");
  EXPECT_EQ(refused("/model/merges", R"([["", "a"]])"), "bad_file: merge 0 is cyclic: it has an empty part");
  EXPECT_EQ(refused("/model/merges", R"(["ab"])"), "bad_file: not a sound tokenizer file");
  EXPECT_EQ(refused("/model/merges", R"([["a", "b", "c"]])"), "bad_file: not a sound tokenizer file");
  EXPECT_EQ(refused("/model/unk_token", R"("?")"), "bad_file: unk_token is not in the vocabulary");
  EXPECT_EQ(refused("/added_tokens/0/id", "0"), "bad_file: a token appears twice in the vocabulary");
  EXPECT_EQ(refused("/added_tokens/0/id", "null"), "bad_file: an added token has no content or no sound id");
  EXPECT_EQ(refused("/post_processor/special_tokens/<s>/ids/0", "9"),
            "bad_file: a token that is put around a text is not in the vocabulary");
  EXPECT_EQ(refused("/pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "("}})"),
            "bad_file: a regular expression cannot be read: missing closing parenthesis");
  EXPECT_EQ(refused("/pre_tokenizer", R"({"type": "Split"})"), "bad_file: the pre-tokenizer Split lacks a sound 'pattern'");
  EXPECT_EQ(refused("/normalizer", "{}"), "bad_file: a normalizer has no type");
}

TEST(JsonTokenizer, TokensThatAppearTwiceAndDeepNestingAreFound) {
  const auto twice = json_tokenizer({R"({"model": {"vocab": {"a": 0, "a": 1}, "merges": []}})", "", ""}, "tokenizer.json");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error()->found, "'a' with ids 0 and 1");
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), "{\"model\": " + deep + "}", "{\"model\": {\"vocab\": " + deep + "}}"}) {
    const auto t = json_tokenizer({text, "", ""}, "tokenizer.json");
    ASSERT_FALSE(t);
    EXPECT_EQ(t.error().code(), Code::bad_file);
  }
}

}  // namespace
}  // namespace tenon::llm
