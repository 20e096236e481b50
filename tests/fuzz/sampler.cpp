// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: of any logits and options one token is chosen, twice the same, or there is one error; stop strings hide the same text
// however it is cut into pieces.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "llm/sample/sampler.h"
#include "llm/sample/stop_strings.h"

namespace {

using namespace tenon;

/// The front of the input, zeros behind its end.
template <class T>
T take(std::string_view& from) {
  T out{};
  const size_t count = std::min(sizeof out, from.size());
  if (count > 0) std::memcpy(&out, from.data(), count);
  from.remove_prefix(count);
  return out;
}

/// Every other time a usual number.
double option(std::string_view& from) {
  constexpr double kUsual[] = {0, 0.05, 0.5, 0.95, 1, 1.1, 2, 40};
  const auto choice = take<uint8_t>(from);
  return choice < 128 ? kUsual[choice % 8] : take<double>(from);
}

void expect(bool holds) {
  if (!holds) std::abort();
}

void expect_token(std::span<const float> logits, const llm::TokenHistory& history, const llm::SamplingOptions& options) {
  llm::Sampler sampler(logits.size());
  const auto token = sampler.sample(logits, history, options, 1, 2);
  if (!token) {
    expect(token.error().code() == Code::bad_input && !token.error()->found.empty());
    return;
  }
  expect(logits[static_cast<size_t>(*token)] > -INFINITY && sampler.sample(logits, history, options, 1, 2).value() == *token);
  double sum = 0;
  for (const llm::Candidate& c : sampler.candidates(logits, history, options).value()) sum += c.probability;
  expect(std::abs(sum - 1) < 1e-9);
}

void expect_one_text(std::string_view text, size_t piece) {
  const std::string first(text.substr(0, text.size() % 5)), second(text.substr(text.size() / 2, 3));
  const auto stops = llm::StopStrings::make({first, second});
  if (!stops) return expect(first.empty() || second.empty());
  llm::StopStrings whole = *stops, cut = *stops;
  std::string shown, pieces;
  whole.add(text, shown);
  whole.finish(shown);
  for (size_t at = 0; at < text.size(); at += piece) cut.add(text.substr(at, piece), pieces);
  cut.finish(pieces);
  expect(shown == pieces && text.starts_with(shown) && whole.has_stopped() == cut.has_stopped());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  expect_one_text(bytes.substr(0, 200), 1 + size % 7);
  llm::SamplingOptions options{.repetition_penalty = option(bytes), .presence_penalty = option(bytes), .frequency_penalty = option(bytes)};
  options.temperature = option(bytes);
  options.top_k = take<int8_t>(bytes);
  options.top_p = option(bytes);
  options.min_p = option(bytes);
  options.seed = take<uint64_t>(bytes);
  if (!llm::check(options)) return 0;
  std::vector<float> logits;
  llm::TokenHistory history(1 + bytes.size() / sizeof(float));
  while (!bytes.empty()) {
    logits.push_back(take<float>(bytes));
    if (logits.size() % 3 == 0) history.add(static_cast<int32_t>(logits.size() - 1));
  }
  expect_token(logits, history, options);
  return 0;
}
