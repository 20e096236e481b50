// SPDX-License-Identifier: Apache-2.0
// BuildConfigs of TensorRT-LLM: the table of their fields, what is read, and what is refused by name.
#include "compiler/options/build_config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "../files/temporary_folder.h"
#include "compiler/options/build_config_json.h"

namespace tenon::compiler {
namespace {

using Json = nlohmann::json;

Error error_of(std::string_view text) {
  const auto config = parse_build_config(text, "c.json");
  EXPECT_FALSE(config) << text;
  return config ? fail(Code::internal, "", "") : config.error();
}

std::string problem_of(std::string_view text) {
  const auto config = parse_build_config(text, "c.json");
  return config ? "" : config.error().text();
}

TEST(BuildConfig, EveryFieldHasItsStandardValueAndAMeaning) {
  std::set<std::string> names;
  for (const BuildConfigField& f : build_config_fields()) {
    EXPECT_TRUE(names.insert(std::string(f.object) + "." + std::string(f.name)).second) << f.name;
    EXPECT_FALSE(f.meaning.empty()) << f.name;
    EXPECT_EQ(find_build_config_field(f.object, f.name)->meaning, f.meaning);
    Json fields = Json::object({{std::string(f.name), Json::parse(f.standard)}});
    if (!f.object.empty()) fields = Json::object({{std::string(f.object), fields}});
    EXPECT_EQ(problem_of(fields.dump()), "") << "the standard value of " << f.name;
  }
  EXPECT_GT(names.size(), 75U);
  EXPECT_EQ(find_build_config_field("", "dtype"), nullptr) << "of plugins alone";
  EXPECT_EQ(type_text(*find_build_config_field("", "kv_cache_type")), "PAGED, CONTINUOUS, DISABLED or null");
}

TEST(BuildConfig, FieldsThatAreMissingAreStandard) {
  const auto config = parse_build_config("{}", "c.json");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->place, "c.json");
  EXPECT_EQ(config->context, 0);
  EXPECT_EQ(config->most_input, 1024);
  EXPECT_EQ(config->most_tokens, 8192);
  EXPECT_TRUE(config->has_cache);
  EXPECT_FALSE(config->all_logits || config->plain_attention || config->dry_run);
  EXPECT_EQ(Json::parse(config->session_limits()), Json::parse(R"({"max_input_len": 1024})"));
  EXPECT_TRUE(BuildConfig().session_limits().empty()) << "without a BuildConfig there are no limits";
}

TEST(BuildConfig, HonouredFieldsAreRead) {
  const auto config = parse_build_config(R"({"max_seq_len": 64, "max_input_len": 32, "max_num_tokens": 16, "opt_num_tokens": 8,
    "kv_cache_type": "disabled", "gather_context_logits": true, "dry_run": true,
    "plugin_config": {"gpt_attention_plugin": null, "context_fmha": "enable", "paged_kv_cache": "disable"}})",
                                         "c.json");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->identity(), "64 32 16 8 false true true");
  EXPECT_TRUE(config->dry_run);
  EXPECT_EQ(refuse_dry_run(*config).error()->place, "c.json, dry_run");
  EXPECT_EQ(Json::parse(config->session_limits()), Json::parse(R"({"max_input_len": 32, "opt_num_tokens": 8})"));
  EXPECT_TRUE(parse_build_config(R"({"plugin_config": {"gpt_attention_plugin": "disable"}})", "")->plain_attention);
  EXPECT_FALSE(parse_build_config(R"({"plugin_config": {"gpt_attention_plugin": "bfloat16"}})", "")->plain_attention);
}

TEST(BuildConfig, ConfigOfAnEngineOfTensorrtLlmIsRead) {
  const auto config = parse_build_config(R"({"version": "1.0.0", "pretrained_config": {"dtype": "float16"},
    "build_config": {"max_seq_len": 96, "kv_cache_type": "CONTINUOUS", "speculative_decoding_mode": 1, "lora_config": {"lora_dir": []},
    "auto_parallel_config": {"world_size": 1, "gpus_per_node": 8}, "output_timing_cache": "model.cache"}})",
                                         "c.json");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->context, 96);
}

TEST(BuildConfig, UnknownFieldsAreNamedWithTheNearestAndTheirLine) {
  const Error error = error_of("{\n  \"max_seq_len\": 8,\n  \"max_sequ_len\": 9\n}");
  EXPECT_EQ(error.code(), Code::bad_input);
  EXPECT_EQ(error->place, "c.json:3, max_sequ_len");
  EXPECT_EQ(error->advice, "did you mean 'max_seq_len'?");
  const Error plugin = error_of("{\"plugin_config\": {\n\"gpt_atention_plugin\": null}}");
  EXPECT_EQ(plugin->place, "c.json:2, plugin_config.gpt_atention_plugin");
  EXPECT_EQ(plugin->advice, "did you mean 'gpt_attention_plugin'?");
  EXPECT_EQ(error_of("{\"plugin_config\": {\"max_seq_lem\": 9}}")->advice, "") << "a field of BuildConfig";
  EXPECT_EQ(error_of("{\"max_seq_len\": 8,\n\"plugin_config\": {\"max_seq_len\": 9}}")->place, "c.json:2, plugin_config.max_seq_len");
  EXPECT_EQ(error_of("{\"input_timing_cache\": \"opt_num_tokens\",\n\"opt_num_tokens\": 0}")->place, "c.json:2, opt_num_tokens");
  EXPECT_EQ(error_of("{").code(), Code::bad_file);
  EXPECT_EQ(error_of("[1]")->found, "array");
}

TEST(BuildConfig, ValuesOfOtherTypesAreNamed) {
  const std::map<const char*, const char*> expected{
      {R"({"max_seq_len": "512"})", "int or null, 1 or more"},
      {R"({"max_seq_len": 0})", "int or null, 1 or more"},
      {R"({"max_num_tokens": null})", "int, 1 or more"},
      {R"({"max_num_tokens": 1.5})", "int, 1 or more"},
      {R"({"max_num_tokens": 18446744073709551615})", "int, 1 or more"},
      {R"({"max_num_tokens": 1099511627777})", "int, 1 or more"},
      {R"({"kv_cache_type": 1})", "PAGED, CONTINUOUS, DISABLED or null"},
      {R"({"gather_context_logits": "enable"})", "true or false"},
      {R"({"kv_cache_type": "LINEAR"})", "PAGED, CONTINUOUS, DISABLED or null"},
      {R"({"plugin_config": 3})", "object"},
      {R"({"plugin_config": {"context_fmha": "auto"}})", "true or false"},
      {R"({"plugin_config": {"gemm_plugin": true}})", "auto, float16, float32, bfloat16, int32, fp8, nvfp4 or null"},
  };
  for (const auto& [text, want] : expected) {
    const Error error = error_of(text);
    EXPECT_EQ(error.code(), Code::bad_input) << text;
    EXPECT_EQ(error->expected, want) << text;
  }
  EXPECT_EQ(error_of(R"({"max_seq_len": "512"})")->found, "\"512\", string");
}

TEST(BuildConfig, WhatIsNotSupportedIsRefusedByName) {
  for (const char* text :
       {R"({"use_refit": true})", R"({"weight_streaming": true})", R"({"weight_sparsity": true})", R"({"input_timing_cache": "a"})",
        R"({"output_timing_cache": "a"})", R"({"auto_parallel_config": {"world_size": 2}})", R"({"max_encoder_input_len": 512})",
        R"({"speculative_decoding_mode": "EAGLE"})", R"({"speculative_decoding_mode": 4})",
        R"({"speculative_decoding_mode": "lookahead_decoding"})", R"({"use_strip_plan": true})", R"({"enable_debug_output": true})",
        R"({"visualize_network": "graph"})", R"({"plugin_config": {"manage_weights": true}})",
        R"({"plugin_config": {"gemm_plugin": "fp8"}})", R"({"plugin_config": {"gemm_plugin": "nvfp4"}})",
        R"({"plugin_config": {"gemm_swiglu_plugin": "fp8"}})", R"({"input_timing_cache": "NONE"})"}) {
    const Error error = error_of(text);
    EXPECT_EQ(error.code(), Code::not_supported) << text;
    EXPECT_TRUE(error->what.starts_with("not supported: ")) << error->what;
    EXPECT_TRUE(error->place.starts_with("c.json:1, ")) << error->place;
  }
  for (const char* text :
       {R"({"max_beam_width": 2})", R"({"max_draft_len": 1})", R"({"speculative_decoding_mode": 2})", R"({"kv_cache_type": "PAGED"})",
        R"({"max_prompt_embedding_table_size": 1})", R"({"plugin_config": {"paged_kv_cache": true}})",
        R"({"plugin_config": {"streamingllm": "enable"}})", R"({"lora_config": {"lora_dir": ["a"]}})"}) {
    const Error error = error_of(text);
    EXPECT_EQ(error.code(), Code::not_supported) << text;
    EXPECT_TRUE(error->what.starts_with("not supported yet: ")) << error->what;
  }
  EXPECT_EQ(error_of(R"({"plugin_config": {"streamingllm": true}})")->place, "c.json:1, plugin_config.streamingllm");
  EXPECT_EQ(error_of(R"({"plugin_config": {"paged_kv_cache": true}})")->place, "c.json:1, plugin_config.paged_kv_cache");
}

TEST(BuildConfig, ValuesThatRequestNothingAreAccepted) {
  for (const char* text : {R"({"input_timing_cache": "", "output_timing_cache": null, "lora_config": null, "plugin_config": null})",
                           R"({"speculative_decoding_mode": "none", "max_draft_len": 0})", R"({"max_num_tokens": 8, "opt_num_tokens": 8})"})
    EXPECT_EQ(problem_of(text), "");
}

TEST(BuildConfig, FieldsThatContradictEachOtherAreErrors) {
  EXPECT_EQ(error_of(R"({"kv_cache_type": "CONTINUOUS", "plugin_config": {"paged_kv_cache": true}})")->what,
            "it contradicts kv_cache_type");
  EXPECT_EQ(error_of(R"({"kv_cache_type": "PAGED", "plugin_config": {"paged_kv_cache": false}})").code(), Code::bad_input);
  EXPECT_EQ(error_of(R"({"max_num_tokens": 8, "opt_num_tokens": 9})")->expected, "at most max_num_tokens, 8");
}

TEST(BuildConfig, FilesAreReadAndNamed) {
  const files::TemporaryFolder folder;
  std::ofstream(folder / "c.json") << R"({"max_seq_len": 12})";
  EXPECT_EQ(read_build_config(folder / "c.json")->context, 12);
  EXPECT_EQ(build_config_of(folder / "c.json", "{}")->context, 0) << "text replaces the file";
  EXPECT_TRUE(build_config_of("", "")->place.empty());
  EXPECT_EQ(read_build_config(folder / "none.json").error().code(), Code::file_missing);
  std::ofstream(folder / "large.json") << "{}" << std::string((1 << 20) - 2, ' ');
  EXPECT_TRUE(read_build_config(folder / "large.json"));
  std::ofstream(folder / "large.json", std::ios::app) << ' ';
  EXPECT_EQ(read_build_config(folder / "large.json").error().code(), Code::limit_exceeded);
}

}  // namespace
}  // namespace tenon::compiler
