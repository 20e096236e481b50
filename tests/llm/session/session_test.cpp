// SPDX-License-Identifier: Apache-2.0
// Answers over decoders that follow a script. Engines: tests/cli/language_models.cpp.
#include "llm/session/session.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scripted_decoder.h"

namespace tenon::llm {
namespace {

using testing::mixed;
using testing::says;
using testing::ScriptedDecoder;
using testing::tokens_of;

GenerationOptions greedy(int64_t most = 0) {
  GenerationOptions o;
  o.sampling.temperature = 0;
  o.max_tokens = most;
  return o;
}

/// A session and the decoder that it owns.
struct Subject {
  explicit Subject(ScriptedDecoder::Script script, int64_t capacity = 64) {
    auto made = std::make_unique<ScriptedDecoder>(std::move(script), capacity);
    decoder = made.get();
    session.emplace(testing::letters(), std::move(made));
  }
  std::string answer(std::string_view prompt, const GenerationOptions& options) {
    const auto text = session->generate(tokens_of(prompt), options);
    return text ? *text : "error: " + text.error().text();
  }
  ScriptedDecoder* decoder;
  std::optional<Session> session;
};

/// The likeliest tokens, one after the other.
std::string reference(std::string_view prompt, size_t count) {
  std::vector<TokenId> tokens = tokens_of(prompt);
  std::string out;
  for (size_t k = 0; k < count; ++k) {
    tokens.push_back(mixed(tokens));
    out += static_cast<char>('a' + tokens.back());
  }
  return out;
}

TEST(Session, AnswersAreTheLikeliestTokensInTurn) {
  Subject s(mixed);
  EXPECT_EQ(s.answer("hello", greedy(12)), reference("hello", 12));
  EXPECT_EQ(s.session->reason(), StopReason::max_tokens);
  EXPECT_EQ(s.session->answer().size(), 12U);
  const GenerationStatistics& done = s.session->statistics();
  EXPECT_EQ(done.prompt_tokens, 5);
  EXPECT_EQ(done.generated_tokens, 12);
  EXPECT_EQ(done.answer_runs, 11);
}

TEST(Session, WhatPromptsHaveInCommonIsNotComputedAgain) {
  Subject s(mixed);
  const std::string first = s.answer("hello", greedy(4));
  const std::string longer = "hello" + first + "more";
  s.decoder->runs.clear();
  EXPECT_EQ(s.answer(longer, greedy(4)), reference(longer, 4));
  EXPECT_EQ(s.session->statistics().reused_tokens, 8);  // the last token of an answer has not run
  EXPECT_EQ(s.decoder->runs, (std::vector<size_t>{5, 1, 1, 1}));
  EXPECT_EQ(s.answer("help", greedy(4)), reference("help", 4));
  EXPECT_EQ(s.session->statistics().reused_tokens, 3);
  EXPECT_EQ(s.answer("help", greedy(4)), reference("help", 4));
  EXPECT_EQ(s.session->statistics().reused_tokens, 3);  // logits are those of a run: the last token runs again
  EXPECT_EQ(s.answer("other", greedy(4)), reference("other", 4));
  EXPECT_EQ(s.session->statistics().reused_tokens, 0);
}

TEST(Session, StatesThatCannotBeCutAreComputedAgain) {
  Subject s(mixed);
  s.decoder->can_be_shortened = false;
  const std::string first = s.answer("hello", greedy(4)), longer = "hello" + first + "more";
  EXPECT_EQ(s.answer(longer, greedy(4)), reference(longer, 4));
  EXPECT_EQ(s.session->statistics().reused_tokens, 8);  // nothing is taken back
  EXPECT_EQ(s.answer("help", greedy(4)), reference("help", 4));
  EXPECT_EQ(s.session->statistics().reused_tokens, 0);
}

TEST(Session, PromptsRunInChunks) {
  Subject s(mixed);
  GenerationOptions o = greedy(1);
  o.chunk = 4;
  EXPECT_EQ(s.answer("abcdefghij", o), reference("abcdefghij", 1));
  EXPECT_EQ(s.decoder->runs, (std::vector<size_t>{4, 4, 2}));
}

TEST(Session, LimitsOfAnEngineBoundPromptsAndChunks) {
  auto made = std::make_unique<ScriptedDecoder>(mixed, 64);
  ScriptedDecoder* const decoder = made.get();
  Session session(testing::letters(), std::move(made), {.max_input = 10, .chunk = 3});
  EXPECT_EQ(*session.generate(tokens_of("abcdefghij"), greedy(1)), reference("abcdefghij", 1));
  EXPECT_EQ(decoder->runs, (std::vector<size_t>{3, 3, 3, 1}));
  const auto refused = session.generate(tokens_of("abcdefghijkl"), greedy(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error()->found, "12 tokens, 2 too many");
  EXPECT_NE(refused.error()->expected.find("max_input_len"), std::string::npos);
  decoder->most = 2;
  session.reset();
  decoder->runs.clear();
  EXPECT_EQ(*session.generate(tokens_of("abcd"), greedy(1)), reference("abcd", 1));
  EXPECT_EQ(decoder->runs, (std::vector<size_t>{2, 2}));
}

TEST(Session, EndTokensAreNoText) {
  Subject s(says("fine", 3));
  EXPECT_EQ(s.answer("how", greedy()), "fine");
  EXPECT_EQ(s.session->reason(), StopReason::end_token);
  EXPECT_EQ(s.session->answer().back(), testing::kEnd);
  GenerationOptions on = greedy(6);
  on.ignore_end = true;
  EXPECT_EQ(s.answer("how", on), "fine");
  EXPECT_EQ(s.session->reason(), StopReason::max_tokens);
  GenerationOptions own = greedy();
  own.stop_tokens = {'n' - 'a'};
  EXPECT_EQ(s.answer("how", own), "fi");
}

TEST(Session, StopStringsAreFoundAcrossTokens) {
  Subject s(says("onetwothree", 2));
  GenerationOptions o = greedy();
  o.stop = {"twt", "wot"};
  std::string shown;
  const auto text = s.session->generate(tokens_of("go"), o, [&](std::string_view piece) {
    shown += piece;
    return true;
  });
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "onet");
  EXPECT_EQ(shown, "onet");
  EXPECT_EQ(s.session->reason(), StopReason::stop_string);
  o.stop = {"threes"};  // begun, and held back until the answer ends
  EXPECT_EQ(s.answer("go", o), "onetwothree");
  o.stop = {""};
  EXPECT_TRUE(s.answer("go", o).starts_with("error: "));
}

TEST(Session, ACallerOrAStopTokenEndsAnAnswer) {
  Subject s(mixed);
  runtime::StopToken stop;
  GenerationOptions o = greedy();
  o.run.token = &stop;
  const auto until = [&](size_t most, bool by_token) {
    std::string shown;
    const auto text = s.session->generate(tokens_of("hello"), o, [&](std::string_view piece) {
      shown += piece;
      if (shown.size() == most && by_token) stop.stop = true;
      return by_token || shown.size() < most;
    });
    EXPECT_TRUE(text);
    EXPECT_EQ(*text, shown);
    return shown;
  };
  EXPECT_EQ(until(3, false), reference("hello", 3));
  EXPECT_EQ(s.session->reason(), StopReason::cancelled);
  EXPECT_EQ(until(5, true), reference("hello", 5));
  EXPECT_EQ(s.session->reason(), StopReason::cancelled);
  stop.stop = false;
  EXPECT_EQ(s.answer("hello", greedy(7)), reference("hello", 7));
}

TEST(Session, APromptIsCancelledWithinItsRuns) {
  Subject s(mixed);
  runtime::StopToken stop;
  GenerationOptions o = greedy(3);
  o.chunk = 2;
  o.run.token = &stop;
  s.decoder->before_run = [&] { stop.stop = s.decoder->runs.size() == 2; };
  EXPECT_EQ(s.answer("hello", o), "");
  EXPECT_EQ(s.session->reason(), StopReason::cancelled);
  EXPECT_TRUE(s.session->answer().empty());
  s.decoder->before_run = {};
  stop.stop = false;
  EXPECT_EQ(s.answer("hello", o), reference("hello", 3));
  EXPECT_EQ(s.session->statistics().reused_tokens, 2);
}

TEST(Session, AFullContextEndsAnAnswer) {
  Subject s(mixed, 9);
  EXPECT_EQ(s.answer("hello", greedy()), reference("hello", 4));
  EXPECT_EQ(s.session->reason(), StopReason::context_full);
}

TEST(Session, WrongPromptsAndOptionsAreErrors) {
  Subject s(mixed, 6);
  EXPECT_NE(s.answer("", greedy()).find("the prompt is empty"), std::string::npos);
  const std::string longer = s.answer("abcdefgh", greedy());
  EXPECT_NE(longer.find("the prompt is longer than the context"), std::string::npos) << longer;
  EXPECT_NE(longer.find("8 tokens, 3 too many"), std::string::npos) << longer;
  EXPECT_TRUE(s.answer("abc", greedy(-1)).starts_with("error: "));
  const auto foreign = s.session->generate(std::vector<TokenId>{1, 99}, greedy());
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error()->found, "99");
  s.decoder->logit = NAN;
  EXPECT_NE(s.answer("abc", greedy()).find("not finite"), std::string::npos);
  s.decoder->logit = 1;
  EXPECT_EQ(s.answer("abc", greedy(2)), reference("abc", 2));
}

}  // namespace
}  // namespace tenon::llm
