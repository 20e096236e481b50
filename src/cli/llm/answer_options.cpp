// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/answer_options.h"

#include <CLI/CLI.hpp>

#include <random>

#include "cli/console/number_checks.h"

namespace tenon::cli {

void AnswerOptions::add_to(CLI::App& app) {
  const auto number = [&app](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->type_name("X")->capture_default_str();
  };
  number("--temperature,--temp", sampling.temperature,
         "divides logits: below 1 likely tokens are preferred more; 0: always the likeliest token");
  number("--top-k", sampling.top_k, "choose among the K likeliest tokens; 0: all")->type_name("K");
  number("--top-p", sampling.top_p, "choose among the likeliest tokens whose probabilities add up to this; 1: all");
  number("--min-p", sampling.min_p, "choose among tokens at least this fraction as likely as the likeliest; 0: all");
  number("--repeat-penalty,--repetition-penalty", sampling.repetition_penalty, "makes tokens of prompt and answer less likely; 1: off");
  number("--presence-penalty", sampling.presence_penalty, "subtracted from the logits of tokens in the answer; 0: off");
  number("--frequency-penalty", sampling.frequency_penalty, "the same, times how often they are there; 0: off");
  app.add_option("--seed", seed, "equal seeds give equal answers (default: another one each time)")->type_name("N")->check(seed_number());
  app.add_option("-n,--max-tokens", max_tokens, "of an answer (default: until the model ends it, or the context is full)")
      ->type_name("N")
      ->check(at_least(1));
  app.add_flag("--ignore-eos", ignore_end, "tokens that end an answer do not, for measuring");
  app.add_flag("--verbose", verbose, "after an answer also print its seed, the times that it took and how full the context is");
  app.add_option("--stop", stop, "text that ends an answer, without being part of it; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
}

Result<llm::GenerationOptions> AnswerOptions::options(int threads) const {
  llm::GenerationOptions out;
  out.sampling = sampling;
  out.sampling.seed = seed ? *seed : std::random_device()();
  out.max_tokens = max_tokens;
  out.stop = stop;
  out.ignore_end = ignore_end;
  out.run.threads = threads;
  TRY(llm::check(out.sampling));
  return out;
}

}  // namespace tenon::cli
