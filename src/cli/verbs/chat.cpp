// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/console/console.h"
#include "cli/console/verb.h"
#include "cli/llm/answer_options.h"
#include "cli/llm/answer_printer.h"
#include "cli/llm/interrupts.h"
#include "cli/llm/language_model.h"
#include "cli/llm/line_reader.h"

namespace tenon::cli::verb_chat {
namespace {

struct Options {
  LanguageModelOptions model;
  AnswerOptions answer;
  std::string system;
  std::vector<std::string> ask;
};

/// The chat so far. Its answers are computed over one cache, which has all turns but the newest.
class Chat {
 public:
  Chat(AnswerPrinter printer, const std::string& system) : printer_(std::move(printer)) {
    if (!system.empty()) messages_.push_back({"system", system});
  }

  Result<void> ask(std::string text) {
    messages_.push_back({"user", std::move(text)});
    const std::string answer = TRY(printer_.answer(TRY(printer_.model().chat_tokens(messages_))));
    data_.push_back(printer_.data(answer));
    messages_.push_back({"assistant", answer});
    return {};
  }
  /// Of all answers.
  const nlohmann::ordered_json& data() const { return data_; }

 private:
  AnswerPrinter printer_;
  std::vector<llm::Message> messages_;
  nlohmann::ordered_json data_ = nlohmann::ordered_json::array();
};

/// A line is a turn, until the input ends or Ctrl-C comes while a line is awaited.
Result<void> talk(Chat& chat, runtime::StopToken& stop, Console& console) {
  const bool by_hand = isatty(STDIN_FILENO) == 1;
  if (by_hand) console.note("A line is a turn. Ctrl-C ends an answer, and the chat where none is under way; so does Ctrl-D.");
  LineReader lines(STDIN_FILENO);
  for (;;) {
    stop.stop = false;
    if (by_hand) console.piece("> ");
    auto line = lines.line();
    if (!line || stop.stop) break;
    if (!line->empty()) TRY(chat.ask(std::move(*line)));
  }
  if (by_hand) console.piece("\n");
  return {};
}

Result<void> run_chat(const Options& o, Console& console) {
  runtime::StopToken stop;
  auto options = TRY(o.answer.options(o.model.threads));
  options.run.token = &stop;
  const auto model = TRY(o.model.open(console));
  const Interrupts interrupts(stop);
  Chat chat(AnswerPrinter(model, TRY(llm::Session::create(model)), options, console), o.system);
  for (const std::string& text : o.ask) TRY(chat.ask(text));
  if (o.ask.empty()) TRY(talk(chat, stop, console));
  console.object({{"answers", chat.data()}});
  return {};
}

}  // namespace

VERB(chat) {
    .summary = "chat with a language model",
    .examples =
        "  tenon chat model.gguf\n"
        "  tenon chat model.gguf --system 'Answer in one sentence.'\n"
        "  tenon chat model.gguf --ask 'What is the capital of France?' --temperature 0\n"
        "  tenon chat model.tenon < questions.txt\n"
        "\nAnswers go to stdout, their speed to stderr. Ctrl-C ends an answer; the next one, at the prompt, ends the chat. The model's chat\n"
        "template makes one text of the turns; what they have in common with the turns before is not computed again.\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->model.add_to(app);
      app.add_option("--system", o->system, "what the model is told before the first turn, where its template has a role for that")
          ->type_name("TEXT");
      app.add_option("--ask", o->ask, "ask this in place of reading lines, and end; may be repeated: each is a turn")
          ->type_name("TEXT")
          ->allow_extra_args(false);
      o->answer.add_to(app);
      return [o](Console& console) { return run_chat(*o, console); };
    },
};

}  // namespace tenon::cli::verb_chat
