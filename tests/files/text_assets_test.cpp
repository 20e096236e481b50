// SPDX-License-Identifier: Apache-2.0
#include "files/text_assets.h"

#include <gtest/gtest.h>

#include <fstream>
#include <span>

#include "files/gguf.h"
#include "gguf_writer.h"
#include "temporary_folder.h"

namespace tenon::files {
namespace {

std::string with_tokenizer() {
  GgufWriter w;
  w.add_text("general.architecture", "llama");
  w.add_number<uint32_t>("llama.block_count", 4, 2);
  w.add_text("tokenizer.ggml.model", "gpt2");
  w.add("tokenizer.ggml.tokens", 9, GgufWriter::array(8, 3, GgufWriter::text("a") + GgufWriter::text("") + GgufWriter::text("bc")));
  w.add("tokenizer.ggml.scores", 9, GgufWriter::array(6, 2, GgufWriter::raw(0.5F) + GgufWriter::raw(-1.0F)));
  w.add_number<uint8_t>("tokenizer.ggml.add_bos_token", 7, 1);
  w.add_tensor("token_embd.weight", {2}, 0, std::string(8, '\0'));
  return w.file();
}

TEST(TextAssets, OfAGgufFileIsItsMetadataAboutText) {
  const TemporaryFolder folder;
  std::ofstream(folder / "m.gguf", std::ios::binary) << with_tokenizer();
  const auto text = read_text_assets(folder / "m.gguf");
  ASSERT_TRUE(text) << text.error().text();
  ASSERT_EQ(text->size(), 1U);
  const std::string& bytes = text->at(TextAsset::gguf_metadata);
  const auto file = read_gguf(std::as_bytes(std::span(bytes)), nullptr, "metadata");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->architecture(), "llama");
  EXPECT_EQ(file->metadata.size(), 5U);
  EXPECT_TRUE(file->tensors.empty());
  EXPECT_EQ(file->find("llama.block_count"), nullptr);
  EXPECT_EQ(file->find("tokenizer.ggml.tokens")->texts(), (std::vector<std::string_view>{"a", "", "bc"}));
  EXPECT_EQ(file->find("tokenizer.ggml.scores")->numbers(), (std::vector<double>{0.5, -1}));
  EXPECT_EQ(file->find("tokenizer.ggml.add_bos_token")->boolean(), true);
}

TEST(TextAssets, OfAGgufFileWithoutTokenizerIsEmpty) {
  const TemporaryFolder folder;
  std::ofstream(folder / "m.gguf", std::ios::binary) << GgufWriter().add_text("general.architecture", "llama").file();
  const auto text = read_text_assets(folder / "m.gguf");
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_TRUE(text->empty());
}

TEST(TextAssets, OfAFolderIsTheFilesThatAreThere) {
  const TemporaryFolder folder;
  std::ofstream(folder / "tokenizer.json") << "{}";
  std::ofstream(folder / "chat_template.jinja") << "{{ messages }}";
  std::ofstream(folder / "config.json") << "{}";
  const auto text = read_text_assets(folder.path());
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_EQ(*text, (TextAssets{{TextAsset::tokenizer, "{}"}, {TextAsset::chat_template, "{{ messages }}"}}));
  EXPECT_EQ(read_text_assets(folder / "none.gguf").error().code(), Code::file_missing);
}

TEST(TextAssets, OfAnOnnxModelIsInItsFolderOrTheOneAbove) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "onnx");
  std::ofstream(folder / "tokenizer.json") << "{}";
  std::ofstream(folder / "genai_config.json") << "{ }";
  const TextAssets want{{TextAsset::tokenizer, "{}"}, {TextAsset::genai_config, "{ }"}};
  EXPECT_EQ(*read_text_assets(folder / "model.onnx"), want);
  EXPECT_EQ(*read_text_assets(folder / "onnx" / "model.onnx"), want);
  std::ofstream(folder / "onnx" / "tokenizer.json") << "[]";
  EXPECT_EQ(*read_text_assets(folder / "onnx" / "model.onnx"), (TextAssets{{TextAsset::tokenizer, "[]"}}));
}

}  // namespace
}  // namespace tenon::files
