// SPDX-License-Identifier: Apache-2.0
// answer ENGINE TEXT: what a language model answers, as it comes. `tenon build model.gguf` makes the engine.
#include <tenon/llm.h>

#include <cstdio>

int main(int count, char** words) {
  if (count != 3) return std::fputs("usage: answer ENGINE TEXT\n", stderr), 2;
  const auto model = tenon::LanguageModel::load(words[1]);
  if (!model) return std::fputs(model.error().text().c_str(), stderr), 1;
  auto session = tenon::LanguageSession::create(*model);
  if (!session) return std::fputs(session.error().text().c_str(), stderr), 1;
  const std::vector<tenon::Message> messages{{"user", words[2]}};
  const auto answer = session->chat(messages, {.sampling = {.temperature = 0}, .max_tokens = 200}, [](std::string_view piece) {
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    return std::fflush(stdout) == 0;
  });
  if (!answer) return std::fputs(answer.error().text().c_str(), stderr), 1;
  std::puts("");
}
