// SPDX-License-Identifier: Apache-2.0
// Names of engines in the user's cache: one for each of what an engine depends on.
#include "compiler/checkpoints/checkpoint_cache.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "../files/temporary_folder.h"

namespace tenon::compiler {
namespace {

void write_text(const std::filesystem::path& file, const char* text) { std::ofstream(file) << text; }

TEST(CheckpointCache, OptionsAndFilesOfAdaptersAreInTheName) {
  const files::TemporaryFolder folder;
  write_text(folder / "m.gguf", "GGUF");
  std::filesystem::create_directory(folder / "adapter");
  write_text(folder / "adapter" / "adapter_config.json", "{}");
  write_text(folder / "adapter" / "adapter_model.safetensors", "1");
  const std::string adapter = (folder / "adapter").string();
  std::set<std::string> names;
  const auto add = [&](const CheckpointOptions& options) {
    const auto name = cached_engine_name(folder / "m.gguf", options);
    ASSERT_TRUE(name) << name.error().text();
    EXPECT_TRUE(name->starts_with("m-")) << *name;
    EXPECT_TRUE(names.insert(*name).second) << *name;
    EXPECT_EQ(*cached_engine_name(folder / "m.gguf", options), *name);
  };
  add({});
  add({.context = 5});
  for (const char* config : {"{}", R"({"max_seq_len": 5})", R"({"kv_cache_type": "DISABLED"})", R"({"gather_context_logits": true})"})
    add({.config = *parse_build_config(config, "BuildConfig")});
  for (const auto weights : {nn::StoredWeights::int8, nn::StoredWeights::int4, nn::StoredWeights::f32}) add({.weights = weights});
  for (const auto kv : {nn::CacheType::f16, nn::CacheType::bf16, nn::CacheType::int8}) add({.kv = kv});
  add({.lora = {adapter}});
  add({.lora = {adapter + "=0.5"}});
  add({.lora = {adapter, adapter}});
  write_text(folder / "adapter" / "adapter_model.safetensors", "22");
  add({.lora = {adapter}});
  write_text(folder / "adapter" / "adapter_config.json", "{ }");
  add({.lora = {adapter}});
  EXPECT_EQ(*cached_engine_name(folder / "m.gguf", {.lora = {adapter + "=1"}}),
            *cached_engine_name(folder / "m.gguf", {.lora = {adapter}}));
}

TEST(CheckpointOptions, ReadScalesOfAdapters) {
  const files::TemporaryFolder folder;
  const auto adapters = [](const std::string& text) { return CheckpointOptions{.lora = {text}}.adapters(); };
  EXPECT_EQ((*adapters("a/b"))[0].scale, 1);
  EXPECT_EQ((*adapters("a=b=-0.25"))[0].path, "a=b");
  EXPECT_EQ((*adapters("a=b=-0.25"))[0].scale, -0.25);
  write_text(folder / "c=2", "");
  EXPECT_EQ((*adapters((folder / "c=2").string()))[0].scale, 1) << "the file is named so";
  for (const char* bad : {"a=", "=1", "a=x", "a=1x", "a=inf", "a=nan"}) EXPECT_EQ(adapters(bad).error().code(), Code::bad_usage) << bad;
}

}  // namespace
}  // namespace tenon::compiler
