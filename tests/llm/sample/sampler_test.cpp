// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "transformers_table.h"

namespace tenon::llm {
namespace {

/// Every token's probability by sorting, in fp64: an independent form of what SamplingOptions documents.
std::vector<double> reference(std::vector<double> x, const std::vector<int32_t>& prompt, const std::vector<int32_t>& answer,
                              const SamplingOptions& o) {
  std::vector<int> in_answer(x.size(), 0), in_any(x.size(), 0);
  for (const int32_t t : prompt) in_any[static_cast<size_t>(t)] = 1;
  for (const int32_t t : answer) ++in_answer[static_cast<size_t>(t)], in_any[static_cast<size_t>(t)] = 1;
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = 0; i < x.size(); ++i) {
    if (in_any[i]) x[i] = x[i] < 0 ? x[i] * o.repetition_penalty : x[i] / o.repetition_penalty;
    x[i] -= o.presence_penalty * (in_answer[i] > 0) + o.frequency_penalty * in_answer[i];
    x[i] /= o.temperature;
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return x[a] != x[b] ? x[a] > x[b] : a > b; });
  std::vector<double> p(x.size(), 0);
  const auto softmax = [&] {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += p[i] = std::exp(x[i] - x[order[0]]);
    for (double& value : p) value /= sum;
  };
  if (o.top_k > 0 && static_cast<size_t>(o.top_k) < x.size()) {
    const double least = x[order[static_cast<size_t>(o.top_k) - 1]];
    for (double& value : x) value = value < least ? -INFINITY : value;
  }
  softmax();
  double before = 0;
  for (size_t i = 0; i < x.size() && o.top_p < 1; ++i) {
    if (i > 0 && before >= o.top_p) x[order[i]] = -INFINITY;
    before += p[order[i]];
  }
  softmax();
  for (size_t i = 0; i < x.size(); ++i)
    if (p[i] < o.min_p * p[order[0]]) x[i] = -INFINITY;
  softmax();
  return p;
}

std::vector<double> probabilities(Sampler& sampler, std::span<const float> logits, const TokenHistory& history, const SamplingOptions& o) {
  std::vector<double> out(logits.size(), 0);
  const auto candidates = sampler.candidates(logits, history, o);
  EXPECT_TRUE(candidates.has_value());
  for (const Candidate& c : *candidates) out[static_cast<size_t>(c.token)] = c.probability;
  return out;
}

TEST(Sampler, ProbabilitiesAreThoseOfTransformers) {
  Sampler sampler(kLogits.size());
  TokenHistory history(kLogits.size());
  history.add_prompt(kPrompt);
  for (const TableRow& row : kTable) {
    const auto& o = row.options;
    const auto found = probabilities(sampler, kLogits, history,
                                     {.repetition_penalty = o.repetition,
                                      .temperature = o.temperature,
                                      .top_k = static_cast<int64_t>(o.top_k),
                                      .top_p = o.top_p,
                                      .min_p = o.min_p});
    for (size_t i = 0; i < kLogits.size(); ++i) {
      EXPECT_NEAR(found[i], row.probabilities[i], 1e-6) << &row - kTable << " " << i;
      EXPECT_EQ(found[i] == 0, row.probabilities[i] == 0) << &row - kTable << " " << i;
    }
  }
}

TEST(Sampler, RandomOptionsKeepTheTokensOfTheDefinition) {
  std::mt19937 random(1);
  const auto uniform = [&] { return std::uniform_real_distribution<double>()(random); };
  Sampler sampler(3000);
  for (int round = 0; round < 300; ++round) {
    const size_t vocabulary = 1 + random() % (round % 3 == 0 ? 3000 : 40);
    std::vector<float> logits(vocabulary);
    for (float& x : logits) x = static_cast<float>(std::normal_distribution<double>(0, 4)(random));
    std::vector<int32_t> prompt(random() % 20), answer(random() % 20);
    for (auto* tokens : {&prompt, &answer})
      for (int32_t& t : *tokens) t = static_cast<int32_t>(random() % vocabulary);
    TokenHistory history(vocabulary);
    history.add_prompt(prompt);
    for (const int32_t t : answer) history.add(t);
    const SamplingOptions o{.repetition_penalty = 0.5 + uniform(),
                            .presence_penalty = uniform() - 0.5,
                            .frequency_penalty = uniform() - 0.5,
                            .temperature = 0.1 + 2 * uniform(),
                            .top_k = static_cast<int64_t>(random() % 2 ? random() % (vocabulary + 2) : 0),
                            .top_p = random() % 2 ? 0.01 + 0.98 * uniform() : 1,
                            .min_p = random() % 2 ? uniform() / 4 : 0};
    const auto expected = reference({logits.begin(), logits.end()}, prompt, answer, o);
    const auto found = probabilities(sampler, logits, history, o);
    for (size_t i = 0; i < vocabulary; ++i) {
      ASSERT_NEAR(found[i], expected[i], 1e-9) << round << " " << i;
      ASSERT_EQ(found[i] == 0, expected[i] == 0) << round << " " << i;
    }
  }
}

TEST(Sampler, GreedyTakesTheFirstOfTheLargest) {
  Sampler sampler(4);
  const TokenHistory history(4);
  EXPECT_EQ(sampler.sample(std::vector<float>{1, 3, 2, 3}, history, {.temperature = 0}, 0, 0).value(), 1);
  EXPECT_EQ(sampler.sample(std::vector<float>{1, -INFINITY, 5, -INFINITY}, history, {.temperature = 0, .top_k = 3}, 0, 0).value(), 2);
}

TEST(Sampler, EqualLogitsOfTopKStayTogether) {
  Sampler sampler(5);
  const auto found = probabilities(sampler, std::vector<float>{1, 2, 2, 2, 0}, TokenHistory(5), {.top_k = 2});
  EXPECT_EQ(found[0], 0);
  EXPECT_DOUBLE_EQ(found[1], 1.0 / 3);
  EXPECT_DOUBLE_EQ(found[3], 1.0 / 3);
}

TEST(Sampler, TokensFollowFromSeedSequenceAndPosition) {
  std::vector<float> logits(50);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i % 7) / 3;
  const TokenHistory history(50);
  Sampler one(50), other(50);
  std::vector<int32_t> alone, batch, next_seed, next_sequence;
  for (uint64_t position = 0; position < 40; ++position) alone.push_back(one.sample(logits, history, {.seed = 9}, 3, position).value());
  for (uint64_t position = 0; position < 40; ++position) {
    for (uint32_t sequence = 0; sequence < 3; ++sequence)
      EXPECT_TRUE(other.sample(logits, history, {.top_k = 5, .seed = 9}, sequence, position));
    batch.push_back(other.sample(logits, history, {.seed = 9}, 3, position).value());
    next_seed.push_back(other.sample(logits, history, {.seed = 10}, 3, position).value());
    next_sequence.push_back(other.sample(logits, history, {.seed = 9}, 4, position).value());
  }
  EXPECT_EQ(alone, batch);
  EXPECT_NE(alone, next_seed);
  EXPECT_NE(alone, next_sequence);
}

TEST(Sampler, FrequenciesAreTheProbabilities) {
  Sampler sampler(kLogits.size());
  const TokenHistory history(kLogits.size());
  constexpr int kDraws = 20'000;
  const auto expected = probabilities(sampler, kLogits, history, {.temperature = 1.5, .top_p = 0.95});
  std::vector<int> counts(kLogits.size(), 0);
  for (int i = 0; i < kDraws; ++i)
    ++counts[static_cast<size_t>(
        sampler.sample(kLogits, history, {.temperature = 1.5, .top_p = 0.95, .seed = 5}, 0, static_cast<uint64_t>(i)).value())];
  for (size_t i = 0; i < counts.size(); ++i) {
    const double deviation = std::sqrt(expected[i] * (1 - expected[i]) / kDraws);
    EXPECT_NEAR(counts[i] / double{kDraws}, expected[i], 5 * deviation) << i;
  }
}

TEST(Sampler, ScratchIsKept) {
  Sampler sampler(1000);
  const std::vector<float> logits(1000, 0.5F);
  const TokenHistory history(1000);
  const Candidate* first = sampler.candidates(logits, history, {.top_p = 0.5}).value().data();
  for (const double top_p : {1.0, 0.1, 0.9}) EXPECT_EQ(sampler.candidates(logits, history, {.top_p = top_p}).value().data(), first);
  EXPECT_EQ(sampler.candidates(logits, history, {.temperature = 0}).value().data(), first);
}

TEST(Sampler, LogitsThatAreNoNumbersAreErrors) {
  Sampler sampler(3);
  const TokenHistory history(3);
  for (const float bad : {NAN, INFINITY}) {
    const auto out = sampler.sample(std::vector<float>{0, bad, 1}, history, {}, 0, 0);
    ASSERT_FALSE(out);
    EXPECT_NE(out.error().text().find("token 1"), std::string::npos);
  }
  const std::vector<float> none(3, -INFINITY);
  EXPECT_EQ(sampler.sample(none, history, {}, 0, 0).error()->what, "no token may follow");
  EXPECT_EQ(sampler.sample(none, history, {.temperature = 0}, 0, 0).error()->what, "no token may follow");
  EXPECT_FALSE(sampler.sample({}, history, {}, 0, 0));
}

TEST(Sampler, OptionsBeyondF64KeepTheOrderOfLogits) {
  const std::vector<float> logits = {-INFINITY, 3e38F, 1, -3e38F, 2, 3e38F};
  TokenHistory history(logits.size());
  for (int32_t token = 0; token < 6; ++token) history.add(token);
  const SamplingOptions kCases[] = {{.temperature = 5e-324},
                                    {.repetition_penalty = 5e-324},
                                    {.repetition_penalty = 1e308, .temperature = 1e-300},
                                    {.presence_penalty = 1.7e308, .frequency_penalty = 1.7e308, .temperature = 1e-300},
                                    {.presence_penalty = -1.7e308, .frequency_penalty = 1.7e308},
                                    {.presence_penalty = -1.7e308, .frequency_penalty = -1.7e308, .top_k = 3}};
  for (SamplingOptions o : kCases) {
    for (const double top_p : {1.0, 0.9}) {
      o.top_p = top_p;
      Sampler sampler(logits.size());
      const auto candidates = sampler.candidates(logits, history, o);
      ASSERT_TRUE(candidates) << candidates.error().text();
      double sum = 0;
      for (const Candidate& c : *candidates) {
        EXPECT_TRUE(std::isfinite(c.logit) && c.token != 0);
        sum += c.probability;
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

TEST(SamplingOptions, OutOfRangeIsNamed) {
  EXPECT_TRUE(check({}));
  EXPECT_EQ(check({.temperature = -1}).error()->place, "temperature");
  EXPECT_EQ(check({.temperature = NAN}).error()->place, "temperature");
  EXPECT_EQ(check({.top_k = -1}).error()->place, "top_k");
  EXPECT_EQ(check({.top_p = 0}).error()->place, "top_p");
  EXPECT_EQ(check({.top_p = 1.5}).error()->place, "top_p");
  EXPECT_EQ(check({.min_p = 2}).error()->place, "min_p");
  EXPECT_EQ(check({.repetition_penalty = 0}).error()->place, "repetition_penalty");
  EXPECT_EQ(check({.presence_penalty = INFINITY}).error()->place, "presence_penalty");
}

TEST(TokenHistory, CountsTheAnswerAndClears) {
  TokenHistory history(4);
  history.add_prompt(std::vector<int32_t>{1, 1, 9, -1});
  history.add(1);
  history.add(3);
  history.add(3);
  EXPECT_EQ(std::vector<int32_t>(history.tokens().begin(), history.tokens().end()), (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(history.answer_count(1), 1u);
  EXPECT_EQ(history.answer_count(3), 2u);
  history.clear();
  EXPECT_TRUE(history.tokens().empty());
  EXPECT_EQ(history.answer_count(3), 0u);
}

}  // namespace
}  // namespace tenon::llm
