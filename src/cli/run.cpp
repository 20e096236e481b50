// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/console.h"
#include "cli/verb.h"

namespace tenon::cli {
namespace {

constexpr const char* kVersion = "tenon 0.1.0";

bool asked_for_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

std::string command_name(std::string_view file_name) {
  std::string out(file_name);
  std::ranges::replace(out, '_', '-');
  return out;
}

/// CLI11 only says that a verb is missing; a wrong one deserves its name.
Result<void> check_verb(int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  std::string known;
  for (const NamedVerb& verb : all_verbs()) {
    const std::string name = command_name(verb.name);
    if (name == argv[1]) return {};
    known += (known.empty() ? "" : ", ") + name;
  }
  return fail(Code::bad_usage, "command line", "there is no such verb").expected("one of: " + known).found(argv[1]);
}

void add_verb(CLI::App& app, const NamedVerb& named, Console& console, Action& chosen) {
  CLI::App* sub = app.add_subcommand(command_name(named.name), std::string(named.verb->summary));
  sub->footer("\nExamples:\n" + std::string(named.verb->examples));
  sub->add_flag("--json", console.json, "print one JSON object on stdout and nothing else");
  sub->add_flag("--quiet", console.quiet, "print nothing but errors");
  sub->callback([&chosen, action = named.verb->setup(*sub)] { chosen = action; });
}

}  // namespace

int run(int argc, const char* const* argv) {
  CLI::App app("Tenon compiles neural networks.", "tenon");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.footer("\n`tenon VERB --help` shows a verb's options, with examples.");
  Console console;
  Action action;
  for (const NamedVerb& verb : all_verbs()) add_verb(app, verb, console, action);
  console.json = asked_for_json(argc, argv);
  if (auto known = check_verb(argc, argv); !known) return console.finish(known);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help and --version
    return app.exit(asked);
  } catch (const CLI::ParseError& e) {
    return console.finish(fail(Code::bad_usage, "command line", e.what()).advice("tenon --help, or tenon VERB --help"));
  }
  try {
    return console.finish(action(console));
  } catch (const std::bad_alloc&) {
    return console.finish(fail(Code::out_of_memory, "", "memory ran out"));
  } catch (const std::exception& e) { return console.finish(fail(Code::internal, "", e.what())); }
}

}  // namespace tenon::cli
