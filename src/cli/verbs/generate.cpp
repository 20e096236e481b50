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

namespace tenon::cli::verb_generate {
namespace {

struct Options {
  LanguageModelOptions model;
  AnswerOptions answer;
  std::string prompt, file;
  bool echo = false;
};

Result<void> generate(const Options& o, const std::string& prompt, Console& console) {
  TRY(check_text(prompt, "prompt"));
  runtime::StopToken stop;
  auto options = TRY(o.answer.options(o.model.threads));
  options.run.token = &stop;
  options.continues = true;
  const auto model = TRY(o.model.open(console));
  const auto tokens = TRY(model->tokenizer.encode(prompt));
  const Interrupts interrupts(stop);
  AnswerPrinter printer(model, TRY(llm::Session::create(model)), options, console, o.answer.verbose);
  if (o.echo) console.piece(prompt);
  const std::string text = TRY(printer.answer(tokens));
  console.object(printer.data(text));
  return {};
}

}  // namespace

VERB(generate) {
    .summary = "continue a text with a language model",
    .examples =
        "  tenon generate model.gguf --prompt 'Once upon a time'\n"
        "  tenon generate model.gguf --prompt 'The capital of France is' --temperature 0 --max-tokens 8\n"
        "  tenon generate model.tenon --file text.txt\n"
        "  tenon generate model.tenon < text.txt\n"
        "\nThe text goes to stdout, its speed to stderr. Ctrl-C ends it.\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->model.add_to(app);
      const CLI::Option* const prompt =
          app.add_option("-p,--prompt", o->prompt, "the text to continue (default: what stdin has)")->type_name("TEXT");
      app.add_option("-f,--file", o->file, "the same, from a text file")->type_name("FILE")->excludes("--prompt");
      o->answer.add_to(app);
      app.add_flag("--echo", o->echo, "print the prompt before its continuation");
      return [o, prompt](Console& console) -> Result<void> {
        if (prompt->count() > 0) return generate(*o, o->prompt, console);
        return generate(*o, o->file.empty() ? LineReader(STDIN_FILENO).rest() : TRY(read_text_file(o->file)), console);
      };
    },
};

}  // namespace tenon::cli::verb_generate
