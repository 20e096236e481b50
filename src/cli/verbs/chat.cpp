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
#include "cli/llm/text_file.h"
#include "cli/llm/turn_reader.h"

namespace tenon::cli::verb_chat {
namespace {

constexpr std::string_view kHelp =
    "A line is a turn; a line that ends with \\ continues on the next. /clear begins a new chat, /exit ends it, /help shows this.\n"
    "Ctrl-C ends an answer that is under way. At the prompt, Ctrl-C or Ctrl-D ends the chat.";

struct Options {
  LanguageModelOptions model;
  AnswerOptions answer;
  std::string system, system_file;
  std::vector<std::string> ask, files;
};

/// The chat so far. Its answers are computed over one cache, which has all turns but the newest.
class Chat {
 public:
  Chat(AnswerPrinter printer, const std::string& system) : printer_(std::move(printer)) {
    if (!system.empty()) messages_.push_back({"system", system});
    first_turn_ = messages_.size();
  }

  /// Where it fails the chat is as it was.
  Result<void> ask(std::string text) {
    TRY(check_text(text, "turn"));
    messages_.push_back({"user", std::move(text)});
    auto answer = answer_newest_turn();
    if (!answer) {
      messages_.pop_back();
      return std::unexpected(answer.error());
    }
    messages_.push_back({"assistant", std::move(*answer)});
    return {};
  }
  /// Forgets all turns.
  void clear() { messages_.resize(first_turn_); }
  /// The answers for --json: AnswerPrinter::data() of each.
  const nlohmann::ordered_json& data() const { return data_; }

 private:
  /// Answers the last of messages_.
  Result<std::string> answer_newest_turn() {
    std::string answer = TRY(printer_.answer(TRY(printer_.model().chat_tokens(messages_))));
    data_.push_back(printer_.data(answer));
    return answer;
  }

  AnswerPrinter printer_;
  std::vector<llm::Message> messages_;
  size_t first_turn_ = 0;  ///< index in messages_: 1 after a system message
  nlohmann::ordered_json data_ = nlohmann::ordered_json::array();
};

/// Answers turn after turn, until the input or the chat ends, or Ctrl-C comes while a line is awaited. A person may go on after a turn that
/// is refused.
Result<void> talk(Chat& chat, runtime::StopToken& stop, Console& console) {
  TurnReader turns(console);
  if (turns.is_interactive()) console.note(kHelp);
  for (;;) {
    stop.stop = false;
    auto turn = turns.turn();
    if (!turn || stop.stop || *turn == "/exit") break;
    if (turn->empty()) continue;
    if (*turn == "/clear") {
      chat.clear();
    } else if (*turn == "/help") {
      console.note(kHelp);
    } else if (auto answered = chat.ask(std::move(*turn)); !answered) {
      if (!turns.is_interactive() || answered.error().code() != Code::bad_input) return answered;
      console.note(answered.error().text());
    }
  }
  if (turns.is_interactive()) console.piece("\n");
  return {};
}

/// The turns of --file and --ask: the files are part of the first one. Without any, the turns are read from lines of stdin.
Result<std::vector<std::string>> given_turns(const Options& o) {
  std::vector<std::string> out = o.ask;
  for (std::string& turn : out)
    if (turn == "-") turn = LineReader(STDIN_FILENO).rest();
  std::string files;
  for (const std::string& path : o.files) files += TRY(read_text_file(path)) + "\n\n";
  if (files.empty()) return out;
  if (out.empty()) out.emplace_back(files.substr(0, files.size() - 2));
  else out.front().insert(0, files);
  return out;
}

Result<void> run_chat(const Options& o, Console& console) {
  runtime::StopToken stop;
  auto options = TRY(o.answer.options(o.model.threads));
  options.run.token = &stop;
  const std::string system = o.system_file.empty() ? o.system : TRY(read_text_file(o.system_file));
  TRY(check_text(system, "--system"));
  const auto turns = TRY(given_turns(o));
  const auto model = TRY(o.model.open(console));
  const Interrupts interrupts(stop);
  Chat chat(AnswerPrinter(model, TRY(llm::Session::create(model)), options, console, o.answer.verbose), system);
  for (const std::string& text : turns) TRY(chat.ask(text));
  if (turns.empty()) TRY(talk(chat, stop, console));
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
        "  tenon chat model.gguf --file letter.txt --ask 'Summarize this letter.'\n"
        "  tenon chat model.tenon < questions.txt\n"
        "  git diff | tenon chat model.tenon --system Explain --ask -\n"
        "\nAnswers go to stdout, their speed to stderr. A line of stdin is a turn; a line that ends with \\ continues on the next. /clear\n"
        "begins a new chat, /exit ends it. Ctrl-C ends an answer; at the prompt, it ends the chat. The model's chat template makes one\n"
        "text of the turns; tokens at its beginning that are the same as in the turn before are not computed again.\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->model.add_to(app);
      app.add_option("--system", o->system, "what the model is told before the first turn, where its template has a role for that")
          ->type_name("TEXT");
      app.add_option("--system-file", o->system_file, "the same, from a text file")->type_name("FILE")->excludes("--system");
      app.add_option("--ask", o->ask,
                     "a turn to answer in place of lines of stdin; -: all of stdin as one turn; may be repeated, once for each turn")
          ->type_name("TEXT")
          ->allow_extra_args(false);
      app.add_option("-f,--file", o->files, "a text file that is part of the first turn, before its --ask; may be repeated")
          ->type_name("FILE")
          ->allow_extra_args(false);
      o->answer.add_to(app);
      return [o](Console& console) { return run_chat(*o, console); };
    },
};

}  // namespace tenon::cli::verb_chat
