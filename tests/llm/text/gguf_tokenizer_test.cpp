// SPDX-License-Identifier: Apache-2.0
#include "llm/text/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include <functional>

#include "../../files/gguf_writer.h"

namespace tenon::llm {
namespace {

using files::GgufWriter;

std::string texts(const std::vector<std::string>& values) {
  std::string out;
  for (const auto& value : values) out += GgufWriter::text(value);
  return GgufWriter::array(8, values.size(), out);
}

template <class T>
std::string numbers(uint32_t type, const std::vector<T>& values) {
  std::string out;
  for (const T value : values) out += GgufWriter::raw(value);
  return GgufWriter::array(type, values.size(), out);
}

Result<Tokenizer> read(const GgufWriter& writer) {
  const std::string bytes = writer.file();
  const auto file = files::read_gguf(std::as_bytes(std::span(bytes)), nullptr, "small.gguf");
  if (!file) return std::unexpected(file.error());
  return gguf_tokenizer(*file, "small.gguf");
}

using Entries = std::vector<std::pair<std::string, std::pair<uint32_t, std::string>>>;

Entries byte_level() {
  return {{"model", {8, GgufWriter::text("gpt2")}},
          {"pre", {8, GgufWriter::text("gpt-2")}},
          {"tokens", {9, texts({"a", "b", "\u0120", "ab", "\u0120ab", "<|end|>", "\u00c3", "\u00a9"})}},
          {"token_type", {9, numbers<int32_t>(5, {1, 1, 1, 1, 1, 3, 1, 1})}},
          {"merges", {9, texts({"a b", "\u0120 ab"})}},
          {"eos_token_id", {4, GgufWriter::raw<uint32_t>(5)}}};
}

Entries pieces() {
  return {{"model", {8, GgufWriter::text("llama")}},
          {"tokens", {9, texts({"<unk>", "<s>", "</s>", "<0x41>", "\u2581", "h", "i", "hi", "\u2581hi", "<user>"})}},
          {"token_type", {9, numbers<int32_t>(5, {2, 3, 3, 6, 1, 1, 1, 1, 1, 4})}},
          {"scores", {9, numbers<float>(6, {0, 0, 0, 0, -9, -9, -9, -1, -2, 0})}}};
}

Result<Tokenizer> read(const Entries& entries) {
  GgufWriter writer;
  for (const auto& [key, value] : entries) writer.add("tokenizer.ggml." + key, value.first, value.second);
  return read(writer);
}

/// With one entry changed, or left out where its type is 99.
Result<Tokenizer> changed(Entries entries, const std::string& key, uint32_t type, const std::string& value) {
  std::erase_if(entries, [&](const auto& entry) { return entry.first == key; });
  if (type != 99) entries.push_back({key, {type, value}});
  return read(entries);
}

std::vector<TokenId> ids(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options = {}) {
  const auto out = tokenizer.encode(text, options);
  return out ? *out : std::vector<TokenId>{-1};
}

TEST(GgufTokenizer, BytePairsOfBytes) {
  const auto t = read(byte_level());
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(ids(*t, "ab ab"), (std::vector<TokenId>{3, 4}));
  EXPECT_EQ(ids(*t, "a<|end|>b"), (std::vector<TokenId>{0, 5, 1}));
  EXPECT_EQ(ids(*t, "a<|end|>b", {.parse_special = false}), (std::vector<TokenId>{0, 1}));
  EXPECT_EQ(t->decode(std::vector<TokenId>{3, 4, 6, 7}), "ab ab\u00e9");
  EXPECT_EQ(t->vocabulary_size(), 8);
  EXPECT_TRUE(t->ends_generation(5));
  EXPECT_TRUE(t->is_special(5));
  EXPECT_EQ(t->find_token("ab"), 3);
}

TEST(GgufTokenizer, PiecesOfSentencePiece) {
  const auto t = read(pieces());
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(ids(*t, "hi hi"), (std::vector<TokenId>{1, 8, 8}));
  EXPECT_EQ(ids(*t, "hi<user>hi A", {.add_special = false}), (std::vector<TokenId>{8, 9, 8, 4, 3}));
  EXPECT_EQ(ids(*t, ""), (std::vector<TokenId>{1}));
  EXPECT_EQ(ids(*t, "z", {.add_special = false}), (std::vector<TokenId>{4, 0}));
  EXPECT_EQ(t->decode(std::vector<TokenId>{1, 8, 8}), "hi hi");
  EXPECT_EQ(t->decode(std::vector<TokenId>{8, 8}, {.continues = true}), " hi hi");
  EXPECT_EQ(t->decode(std::vector<TokenId>{1, 8, 2}, {.skip_special = false}), "<s> hi</s>");
  const auto bare = changed(pieces(), "add_space_prefix", 7, std::string(1, '\0'));
  ASSERT_TRUE(bare) << bare.error().text();
  EXPECT_EQ(ids(*bare, "hi hi"), (std::vector<TokenId>{1, 7, 8}));
}

TEST(GgufTokenizer, StreamsGiveWholeCharacters) {
  const auto t = read(byte_level());
  ASSERT_TRUE(t);
  TextStream stream(*t);
  EXPECT_EQ(stream.push(3), "ab");
  EXPECT_EQ(stream.push(6), "");
  EXPECT_EQ(stream.push(7), "\u00e9");
  EXPECT_EQ(stream.push(99), "");
  EXPECT_EQ(stream.push(6), "");
  EXPECT_EQ(stream.finish(), "\ufffd");
}

TEST(GgufTokenizer, AModelOfAnotherVocabularyIsRefused) {
  const auto t = read(byte_level());
  ASSERT_TRUE(t);
  EXPECT_TRUE(t->check_vocabulary(8, "model"));
  EXPECT_TRUE(t->check_vocabulary(64, "model"));
  const auto refused = t->check_vocabulary(7, "model");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error()->what, "the tokenizer is of another vocabulary than the model");
}

struct Damage {
  const char* name;
  std::function<Result<Tokenizer>()> read;
  Code code;
  const char* what;
};

std::vector<Damage> damages() {
  const auto text = [](const char* value) { return GgufWriter::text(value); };
  return {
      {"no model", [] { return changed(byte_level(), "model", 99, ""); }, Code::bad_file, "tokenizer.ggml.model is missing"},
      {"another model", [=] { return changed(byte_level(), "model", 8, text("t5")); }, Code::not_supported,
       "not supported yet: the tokenizer 't5'"},
      {"another pre-tokenizer", [=] { return changed(byte_level(), "pre", 8, text("gpt2")); }, Code::not_supported,
       "not supported yet: the pre-tokenizer 'gpt2'"},
      {"model of another kind", [] { return changed(byte_level(), "model", 4, GgufWriter::raw<uint32_t>(1)); }, Code::bad_file,
       "tokenizer.ggml.model is of another kind"},
      {"no tokens", [] { return changed(byte_level(), "tokens", 99, ""); }, Code::bad_file, "tokenizer.ggml.tokens is missing or empty"},
      {"a token twice", [] { return changed(byte_level(), "tokens", 9, texts({"a", "b", "a", "", "", "", "", ""})); }, Code::bad_file,
       "a token appears twice in the vocabulary"},
      {"other types", [] { return changed(byte_level(), "token_type", 9, numbers<int32_t>(5, {1})); }, Code::bad_file,
       "tokenizer.ggml.token_type has another length than the tokens"},
      {"no merges", [] { return changed(byte_level(), "merges", 99, ""); }, Code::bad_file, "tokenizer.ggml.merges is missing"},
      {"half a merge", [] { return changed(byte_level(), "merges", 9, texts({"ab"})); }, Code::bad_file,
       "tokenizer.ggml.merges has an entry that is no pair"},
      {"an unknown merge", [] { return changed(byte_level(), "merges", 9, texts({"a a"})); }, Code::bad_file,
       "merge 0 is unknown to the vocabulary"},
      {"a cyclic merge", [] { return changed(byte_level(), "merges", 9, texts({"a "})); }, Code::bad_file,
       "merge 0 is cyclic: it has an empty part"},
      {"an id without token", [] { return changed(byte_level(), "bos_token_id", 4, GgufWriter::raw<uint32_t>(70)); }, Code::bad_file,
       "tokenizer.ggml.bos_token_id is no token"},
      {"no begin", [] { return changed(byte_level(), "add_bos_token", 7, std::string(1, '\1')); }, Code::bad_file,
       "tokenizer.ggml.add_bos_token needs a token"},
      {"no scores", [] { return changed(pieces(), "scores", 99, ""); }, Code::bad_file,
       "tokenizer.ggml.scores is missing or of another length than the tokens"},
      {"no number", [] { return changed(pieces(), "scores", 9, numbers<float>(6, std::vector<float>(10, NAN))); }, Code::bad_file,
       "tokenizer.ggml.scores has a score that is no number"},
      {"a long added token",
       [] {
         auto entries = pieces();
         entries[1].second.second = texts({"<unk>", "<s>", "</s>", "<0x41>", "\u2581", "h", "i", "hi", "\u2581hi", std::string(1025, 'x')});
         return read(entries);
       },
       Code::limit_exceeded, ""},
  };
}

TEST(GgufTokenizer, DamageIsOneErrorEach) {
  for (const Damage& damage : damages()) {
    const auto t = damage.read();
    ASSERT_FALSE(t) << damage.name;
    EXPECT_EQ(t.error().code(), damage.code) << t.error().text();
    EXPECT_TRUE(t.error()->what.starts_with(damage.what)) << t.error().text();
    EXPECT_EQ(t.error()->place, "small.gguf");
    EXPECT_FALSE(t.error()->expected.empty() || t.error()->found.empty()) << t.error().text();
  }
}

}  // namespace
}  // namespace tenon::llm
