// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/console/console.h"
#include "cli/console/verb.h"
#include "cli/llm/language_model.h"
#include "cli/llm/text_file.h"

namespace tenon::cli::verb_tokens {
namespace {

struct Options {
  std::string model, text;
  bool no_special = false, literal = false;
};

/// A token's text with control characters and quotes escaped as in JSON.
std::string spelled(std::string_view text) { return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

Result<void> show_tokens(const Options& o, Console& console) {
  const llm::Tokenizer tokenizer = TRY(open_tokenizer(o.model));
  TRY(check_text(o.text, "TEXT"));
  const auto tokens = TRY(tokenizer.encode(o.text, {.add_special = !o.no_special, .parse_special = !o.literal}));
  std::vector<std::vector<std::string>> rows{{"token", "text", "in the vocabulary"}};
  auto texts = nlohmann::ordered_json::array();
  for (const llm::TokenId token : tokens) {
    const std::string_view own = tokenizer.token_text(token);
    rows.push_back(
        {std::to_string(token), spelled(tokenizer.decode({&token, 1}, {.skip_special = false, .continues = true})), spelled(own)});
    texts.push_back(std::string(own));
  }
  console.table(rows);
  console.line();
  console.line(std::to_string(tokens.size()) + " tokens");
  console.object({{"tokens", tokens}, {"texts", std::move(texts)}});
  return {};
}

}  // namespace

VERB(tokens) {
    .summary = "show the tokens of a text",
    .examples =
        "  tenon tokens model.gguf 'How many tokens is this?'\n"
        "  tenon tokens model.tenon '<|im_start|>user' --literal\n"
        "  tenon tokens folder/ text --json\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("MODEL", o->model, "an engine, a GGUF file, a Hugging Face folder or a tokenizer.json")->required()->type_name("FILE");
      app.add_option("TEXT", o->text, "the text")->required();
      app.add_flag("--no-special", o->no_special, "leave out what the tokenizer puts around a text");
      app.add_flag("--literal", o->literal, "special tokens that the text writes are letters");
      return [o](Console& console) { return show_tokens(*o, console); };
    },
};

}  // namespace tenon::cli::verb_tokens
