// SPDX-License-Identifier: Apache-2.0
#include "llm/text/read_tokenizer.h"

#include <gtest/gtest.h>

#include <fstream>

#include "../../files/temporary_folder.h"

namespace tenon::llm {
namespace {

constexpr const char* kTokenizer =
    R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}, "added_tokens": [{"id": 2, "content": "<s>"}]})";

TEST(ReadTokenizer, OfAFolderAFileAndAnEngine) {
  const files::TemporaryFolder folder;
  EXPECT_EQ(read_tokenizer(folder.path()).error().code(), Code::bad_file);
  EXPECT_EQ(read_tokenizer(folder.path() / "tokenizer.json").error().code(), Code::file_missing);
  std::ofstream(folder.path() / "tokenizer.json") << kTokenizer;
  std::ofstream(folder.path() / "tokenizer_config.json") << R"({"bos_token": "<s>"})";
  const auto whole = read_tokenizer(folder.path()), alone = read_tokenizer(folder.path() / "tokenizer.json");
  ASSERT_TRUE(whole) << whole.error().text();
  ASSERT_TRUE(alone) << alone.error().text();
  EXPECT_EQ(whole->special().begin, 2);
  EXPECT_EQ(alone->special().begin, std::nullopt);
  const auto kept = tokenizer_of({{files::TextAsset::tokenizer, kTokenizer}}, "m.tenon");
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept->encode("ab<s>"), (std::vector<TokenId>{0, 1, 2}));
  EXPECT_EQ(tokenizer_of({}, "m.tenon").error()->what, "the model has no tokenizer");
  EXPECT_EQ(tokenizer_of({{files::TextAsset::gguf_metadata, "GGUF"}}, "m.tenon").error().code(), Code::bad_file);
}

}  // namespace
}  // namespace tenon::llm
