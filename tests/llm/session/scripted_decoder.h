// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "llm/session/decoder.h"
#include "llm/text/read_tokenizer.h"

namespace tenon::llm::testing {

constexpr TokenId kEnd = 26, kBegin = 27;
constexpr int64_t kVocabulary = 28;

/// A token a letter, and one that ends answers.
inline Tokenizer letters() {
  std::string vocabulary;
  for (char c = 'a'; c <= 'z'; ++c) vocabulary += std::string(vocabulary.empty() ? "\"" : ", \"") + c + "\": " + std::to_string(c - 'a');
  const std::string json = R"({"decoder": {"type": "Fuse"}, "model": {"type": "BPE", "vocab": {)" + vocabulary +
                           R"(}, "merges": []}, "added_tokens": [{"id": 26, "content": "</s>", "special": true},
                           {"id": 27, "content": "<s>", "special": true}]})";
  const std::string config = R"({"eos_token": "</s>", "bos_token": "<s>"})";
  return *tokenizer_of({{files::TextAsset::tokenizer, json}, {files::TextAsset::tokenizer_config, config}}, "letters");
}

inline std::vector<TokenId> tokens_of(std::string_view text) { return *letters().encode(text, {.add_special = false}); }

/// A decoder whose likeliest next token is a function of the tokens so far.
class ScriptedDecoder : public Decoder {
 public:
  using Script = std::function<TokenId(std::span<const TokenId>)>;
  ScriptedDecoder(Script script, int64_t capacity) : script_(std::move(script)), capacity_(capacity), logits_(kVocabulary) {}

  int64_t vocabulary() const override { return kVocabulary; }
  int64_t capacity() const override { return capacity_; }
  int64_t most_tokens() const override { return most > 0 ? most : capacity_; }
  int64_t length() const override { return static_cast<int64_t>(cache_.size()); }

  Result<std::span<const float>> run(std::span<const TokenId> tokens, const runtime::RunOptions& options) override {
    runs.push_back(tokens.size());
    if (before_run) before_run();
    if (options.token && options.token->stop) {
      if (!can_be_shortened) cache_.clear();
      return fail(Code::cancelled, "run", "the run was stopped");
    }
    cache_.insert(cache_.end(), tokens.begin(), tokens.end());
    logits_.assign(kVocabulary, 0.0F);
    logits_[static_cast<size_t>(script_(cache_))] = logit;
    return logits_;
  }

  int64_t shorten(int64_t length) override {
    if (length < this->length()) cache_.resize(can_be_shortened ? static_cast<size_t>(length) : 0);
    return this->length();
  }

  std::vector<size_t> runs;  ///< tokens of each
  std::function<void()> before_run;
  bool can_be_shortened = true;
  float logit = 1;
  int64_t most = 0;  ///< tokens of a run; 0: as many as the capacity

 private:
  Script script_;
  int64_t capacity_;
  std::vector<TokenId> cache_;
  std::vector<float> logits_;
};

/// A letter that depends on every token before it.
inline TokenId mixed(std::span<const TokenId> tokens) {
  uint64_t sum = 7;
  for (const TokenId t : tokens) sum = sum * 6364136223846793005U + static_cast<uint64_t>(t) + 1;
  return static_cast<TokenId>((sum >> 33) % 26);
}

/// Answers a prompt of so many tokens with the text, then ends.
inline ScriptedDecoder::Script says(std::string text, size_t prompt) {
  return [text = std::move(text), prompt](std::span<const TokenId> tokens) {
    const size_t at = tokens.size() - prompt;
    return at < text.size() ? static_cast<TokenId>(text[at] - 'a') : kEnd;
  };
}

}  // namespace tenon::llm::testing
