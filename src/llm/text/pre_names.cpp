// SPDX-License-Identifier: Apache-2.0
#include "llm/text/pre_names.h"

#include <fmt/format.h>

#include <string>

#include "base/nearest.h"

namespace tenon::llm {
namespace {

using Patterns = std::vector<std::string_view>;

// A stage is a pattern whose matches become pieces; these names are stages that are no patterns.
constexpr std::string_view kGpt2 = "gpt2", kBytes = "bytes", kDigit = "digit", kDigits = "digits", kPunctuation = "punctuation";

constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kBailing =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
                                     R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
                                     R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kBloom = R"( ?[^(\s|[.,!?…。，、।۔،])]+)";
constexpr std::string_view kHan = "[一-龥\u3040-ゟ゠-ヿ]+";
constexpr std::string_view kDeepSeek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDefaultPunctuation = R"([\p{P}\$\+<=>\^~\|]+)";

struct Row {
  std::vector<std::string_view> names;
  Patterns stages;
  bool whole_words = false, adds_begin = false;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {{"default", ""}, {kDefaultPunctuation, kGpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
      {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0", "mellum",
        "modern-bert", "exaone4", "trillion", "granite-docling"},
       {kGpt2}},
      {{"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b"}, {kDigit, kGpt2}},
      {{"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"}, {kLlama3, kBytes}, true, true},
      {{"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}, {kLlama3, kBytes}},
      {{"qwen2", "deepseek-r1-qwen", "kormo", "stablelm2", "megrez", "hunyuan", "grok-2", "solar-open"}, {kQwen2, kBytes}},
      {{"qwen35"}, {kQwen35, kBytes}},
      {{"seed-coder"}, {kSeedCoder, kBytes}},
      {{"bailingmoe", "bailingmoe2", "llada-moe"}, {kBailing, kBytes}},
      {{"gpt-4o", "llama4", "minimax-m2", "kanana2"}, {kGpt4o, kBytes}},
      {{"tekken"}, {kTekken, kBytes}, true, true},
      {{"falcon"}, {kPunctuation, kGpt2, kDigits, "[0-9][0-9][0-9]"}},
      {{"bloom", "gpt3-finnish", "poro-chat"}, {kBloom, kBytes}},
      {{"viking"}, {kBloom, kDigit, kBytes}},
      {{"deepseek-coder"}, {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-\ud7ff]+", R"(\p{N})", kBytes}},
      {{"deepseek-v3", "hunyuan-dense", "joyai-llm"}, {R"(\p{N}{1,3})", kHan, kDeepSeek3, kBytes}},
  };
  return table;
}

Result<PreTokenizer> step_of(std::string_view stage, std::string_view place) {
  if (stage == kGpt2) return byte_level(false, true);
  if (stage == kBytes) return byte_level(false, false);
  if (stage == kDigit) return digits(true);
  if (stage == kDigits) return digits(false);
  if (stage == kPunctuation) return punctuation(SplitBehavior::contiguous);
  return split_by(find_regex(TRY(Regex::compile(stage, place))), SplitBehavior::isolated);
}

}  // namespace

Result<PreName> pre_tokenizer_named(std::string_view name, std::string_view place) {
  std::vector<std::string_view> names;
  for (const Row& row : rows()) {
    for (const std::string_view candidate : row.names) {
      names.push_back(candidate);
      if (candidate != name) continue;
      PreName out{{}, row.whole_words, row.adds_begin};
      for (const std::string_view stage : row.stages) out.steps.push_back(TRY(step_of(stage, place)));
      return out;
    }
  }
  return fail(Code::not_supported, std::string(place), fmt::format("not supported yet: the pre-tokenizer '{}'", name.substr(0, 80)))
      .expected("one of those in src/llm/text/pre_names.cpp: gpt-2, llama-bpe, qwen2, smollm, ...")
      .found(std::string(name.substr(0, 80)))
      .advice(did_you_mean(name, names));
}

}  // namespace tenon::llm
