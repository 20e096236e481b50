// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

#include "cli/console/console.h"
#include "cli/console/usage_error.h"
#include "cli/console/verb.h"

namespace tenon::cli::verb_help {
namespace {

struct Options {
  const CLI::App* program = nullptr;
  std::vector<std::string> verbs;
  bool all = false;
};

Result<void> show(const Options& o, Console& console) {
  const CLI::App* command = o.program;
  std::string before;
  for (const std::string& name : o.verbs) {
    before += (before.empty() ? "" : " ") + command->get_name();
    const CLI::App* const next = find_verb(*command, name);
    if (!next) return unknown_verb(*command, name);
    command = next;
  }
  // The program itself has a verb that was parsed, `help`, to which CLI11 would go on.
  const auto mode = o.all ? CLI::AppFormatMode::All : CLI::AppFormatMode::Normal;
  std::string text = command->get_formatter()->make_help(command, (before.empty() ? "" : before + " ") + command->get_name(), mode);
  console.object({{"help", text}});
  if (text.ends_with('\n')) text.pop_back();
  console.line(text);
  return {};
}

}  // namespace

VERB(help) {
    .summary = "show what the program or a verb does, its options and examples",
    .examples =
        "  tenon help\n"
        "  tenon help run\n"
        "  tenon help build --all\n"
        "  tenon help rules why\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->program = app.get_parent();
      app.add_option("VERB", o->verbs, "a verb, and one of its own (default: the program)");
      app.add_flag("--all", o->all, "rare options too");
      return [o](Console& console) { return show(*o, console); };
    },
};

}  // namespace tenon::cli::verb_help
