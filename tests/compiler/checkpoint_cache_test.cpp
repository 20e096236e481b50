// SPDX-License-Identifier: Apache-2.0
// Engines in the user's cache: one name for each of what an engine depends on, and which of them are removed.
#include "compiler/checkpoints/checkpoint_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "../files/temporary_folder.h"
#include "compiler/checkpoints/engine_cache.h"
#include "compiler/onnx_decoder.h"

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
  add({.batch = 2});
  add({.window = 2});
  add({.window = 2, .sinks = 1});
  for (const char* config : {"{}", R"({"max_seq_len": 5})", R"({"kv_cache_type": "DISABLED"})", R"({"gather_context_logits": true})"})
    add({.config = *parse_build_config(config, "BuildConfig")});
  for (const auto weights : {nn::StoredWeights::int8, nn::StoredWeights::int4, nn::StoredWeights::f32}) add({.weights = weights});
  for (const auto kv : {nn::CacheType::f16, nn::CacheType::bf16, nn::CacheType::int8, nn::CacheType::fp8}) add({.kv = kv});
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

TEST(EngineCache, LimitIsASizeOfTheEnvironment) {
  const std::pair<const char*, uint64_t> kSizes[] = {{"", uint64_t{20} << 30},      {"0", UINT64_MAX},        {"1000", 1000}, {"3K", 3072},
                                                     {"500M", uint64_t{500} << 20}, {"2T", uint64_t{2} << 40}};
  for (const auto& [text, bytes] : kSizes) {
    setenv("TENON_CACHE_SIZE", text, 1);
    EXPECT_EQ(engine_cache_limit().value(), bytes) << text;
  }
  for (const char* const bad : {"G", "1GB", "-1", "1.5G", "x", "99999999999999999999", "99999999T", " 1", "1KM"}) {
    setenv("TENON_CACHE_SIZE", bad, 1);
    EXPECT_EQ(engine_cache_limit().error().code(), Code::bad_usage) << bad;
  }
  unsetenv("TENON_CACHE_SIZE");
}

/// Files of 1,000 bytes, each used a day before the next; 9 is the newest.
class EngineFolder : public testing::Test {
 protected:
  void SetUp() override {
    for (int k = 0; k < 10; ++k) add(std::to_string(k) + ".tenon", std::chrono::days(10 - k));
  }
  void add(const std::string& name, std::chrono::hours ago) {
    std::ofstream(folder / name) << std::string(1000, 'x');
    std::filesystem::last_write_time(folder / name, std::filesystem::file_time_type::clock::now() - ago);
  }
  std::string names() {
    std::set<std::string> sorted;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) sorted.insert(entry.path().filename().string());
    std::string out;
    for (const std::string& name : sorted) out += name.substr(0, name.find(".tenon"));
    return out;
  }
  files::TemporaryFolder folder;
};

TEST_F(EngineFolder, LosesWhatWasNotUsedForLongest) {
  EXPECT_EQ(remove_engines(folder.path(), folder / "9.tenon", 10'000).count, 0U);
  EXPECT_TRUE(use_engine(folder / "0.tenon"));
  EXPECT_FALSE(use_engine(folder / "none.tenon"));
  const RemovedEngines removed = remove_engines(folder.path(), folder / "2.tenon", 7999);
  EXPECT_EQ(removed.count, 3U);
  EXPECT_EQ(removed.bytes, 3000U);
  EXPECT_EQ(names(), "0256789");
}

TEST_F(EngineFolder, KeepsTheNewOneThoseInUseAndOtherFiles) {
  add("a.txt", std::chrono::hours(0));
  add("b.tenon.part-1-0", std::chrono::hours(30));
  add("c.tenon.part-2-0", std::chrono::hours(1));
  std::filesystem::create_directory(folder / "d.tenon");
  EXPECT_TRUE(use_engine(folder / "4.tenon"));
  EXPECT_EQ(remove_engines(folder.path(), folder / "3.tenon", 1).count, 8U);
  EXPECT_EQ(names(), "34a.txtcd");
}

TEST_F(EngineFolder, IsSharedByThreadsThatUseAndRemove) {
  std::vector<std::thread> threads;
  std::atomic<uint64_t> removed = 0;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int turn = 0; turn < 50; ++turn) {
        if (k % 2 == 0) removed += remove_engines(folder.path(), folder / "9.tenon", 2000).count;
        else EXPECT_TRUE(use_engine(folder / "9.tenon"));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(removed, 8U);
  EXPECT_EQ(names(), "89");
}

TEST(CheckpointCache, DataOfAnOnnxDecoderIsInTheName) {
  const files::TemporaryFolder folder;
  write_text(folder / "model.onnx", "");
  std::set<std::string> names;
  const auto add = [&](const CheckpointOptions& options) {
    EXPECT_TRUE(names.insert(*cached_engine_name(folder / "model.onnx", options)).second);
  };
  add({});
  add({.states = {"a=b"}});
  write_text(folder / "model.onnx_data", "1");
  add({});
  write_text(folder / "config.json", "{}");
  add({});
  write_text(folder / "other.txt", "1");
  write_text(folder / "model.tenon", "1");
  EXPECT_TRUE(names.contains(*cached_engine_name(folder / "model.onnx", {})));
}

TEST(OnnxDecoders, FolderHasTheModelAndItsContext) {
  const files::TemporaryFolder folder;
  EXPECT_FALSE(onnx_decoder_in(folder.path()));
  std::filesystem::create_directory(folder / "onnx");
  write_text(folder / "onnx" / "decoder_model_merged.onnx", "");
  EXPECT_EQ(onnx_decoder_in(folder.path()), folder / "onnx" / "decoder_model_merged.onnx");
  write_text(folder / "model.onnx", "");
  write_text(folder / "own.onnx", "");
  EXPECT_EQ(onnx_decoder_in(folder.path()), folder / "model.onnx");
  const auto states = [&](int64_t context) { return states_of_decoder(folder / "model.onnx", {"a=b", "auto"}, context); };
  EXPECT_EQ((*states(0))[1], "auto");
  EXPECT_EQ((*states(9))[1], "auto:9");
  write_text(folder / "config.json", R"({"n_positions": 30})");
  EXPECT_EQ((*states(0))[1], "auto:30");
  EXPECT_EQ(states(31).error().code(), Code::bad_usage);
  write_text(folder / "genai_config.json", R"({"model": {"context_length": 20, "decoder": {"filename": "own.onnx"}}})");
  EXPECT_EQ(onnx_decoder_in(folder.path()), folder / "own.onnx");
  EXPECT_EQ(*states(0), (std::vector<std::string>{"a=b", "auto:20"}));
  write_text(folder / "genai_config.json", "[]");
  EXPECT_EQ(states(0).error().code(), Code::bad_file);
  write_text(folder / "model.safetensors", "");
  EXPECT_FALSE(onnx_decoder_in(folder.path())) << "the checkpoint comes first";
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

TEST(CheckpointOptions, FlagIsThatOfAnOptionThatIsSet) {
  EXPECT_EQ(CheckpointOptions().flag(), "");
  const std::pair<const char*, CheckpointOptions> options[] = {
      {"--context", {.context = 5}},
      {"--lora", {.lora = {"a"}}},
      {"--weights", {.weights = nn::StoredWeights::f32}},
      {"--kv", {.kv = nn::CacheType::fp8}},
      {"--batch", {.batch = 0}},
      {"--window", {.window = 1}},
      {"--sinks", {.sinks = 1}},
      {"--build-config", {.config = *parse_build_config("{}", "BuildConfig")}},
      {"--state", {.states = {"a=b"}}},
  };
  for (const auto& [flag, of] : options) EXPECT_EQ(of.flag(), flag);
}

TEST(CheckpointOptions, NumbersThatMakeNoSenseNameTheirOption) {
  for (const auto& of : {CheckpointOptions{}, {.context = 1}, {.batch = 0}, {.window = 1}, {.window = 1, .sinks = 1}})
    EXPECT_TRUE(of.check_numbers()) << of.flag();
  const std::pair<const char*, CheckpointOptions> options[] = {
      {"--context", {.context = -1}},          {"--batch", {.batch = -1}}, {"--window", {.window = -1}},
      {"--sinks", {.window = 4, .sinks = -1}}, {"--sinks", {.sinks = 1}},
  };
  for (const auto& [flag, of] : options) {
    const auto status = of.check_numbers();
    ASSERT_FALSE(status) << flag;
    EXPECT_EQ(status.error().code(), Code::bad_usage);
    EXPECT_EQ(status.error()->place, flag);
  }
}

TEST(CheckpointOptions, NamesAreThoseOfTheTable) {
  EXPECT_EQ(name_of(nn::StoredWeights::int8), "int8");
  EXPECT_EQ(stored_weights_named("int4"), nn::StoredWeights::int4);
  EXPECT_EQ(name_of(nn::CacheType::fp8), "fp8");
  EXPECT_EQ(cache_type_named("f16"), nn::CacheType::f16);
}

}  // namespace
}  // namespace tenon::compiler
