// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "base/exception_error.h"
#include "base/version.h"
#include "cli/console/console.h"
#include "cli/console/file_arguments.h"
#include "cli/console/help_text.h"
#include "cli/console/isolate.h"
#include "cli/console/number_checks.h"
#include "cli/console/option_groups.h"
#include "cli/console/usage_error.h"
#include "cli/console/verb.h"
#include "cli/console/wrap.h"

namespace tenon::cli {
namespace {

bool has_json_flag(int argc, const char* const* argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

std::string command_name(std::string_view file_name) {
  std::string out(file_name);
  std::ranges::replace(out, '_', '-');
  return out;
}

/// The error of an unknown verb with its name: CLI11 would only report that a verb is missing.
Result<void> check_verb(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-' || find_verb(app, argv[1])) return {};
  return unknown_verb(app, argv[1]);
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return help_text(command_info(*app), name, mode == CLI::AppFormatMode::All, help_width());
  }
};

void add_verb(CLI::App& app, const NamedVerb& named, Console& console, Action& chosen) {
  CLI::App* sub = app.add_subcommand(command_name(named.name), std::string(named.verb->summary));
  sub->footer("\nExamples:\n" + std::string(named.verb->examples));
  if (named.verb->hidden) sub->group("");
  sub->add_flag("--json", console.json, "print one JSON object on stdout and nothing else");
  sub->add_flag("--quiet", console.quiet, "print nothing but errors");
  if (named.verb->isolates) {
    CLI::Option* isolate = sub->add_flag("--isolate", console.isolate,
                                         "run in a child process, so that a backend that crashes or hangs is reported as an error");
    sub->add_option("--call-timeout", console.call_timeout, "with --isolate: seconds that one call of a backend may take")
        ->check(at_least(1))
        ->needs(isolate)
        ->capture_default_str();
    group_options(*sub, kDebugOptions, {"--isolate", "--call-timeout"});
  }
  sub->callback([&chosen, action = named.verb->setup(*sub)] { chosen = action; });
  refuse_empty_names(*sub);
}

/// Calls of plugins while a model is built run in this program: with --isolate-plugins that is a process of its own too.
bool isolates_plugins(const CLI::App& app) {
  const CLI::App& verb = *app.get_subcommands().front();
  const auto given = [&](const char* name) {
    const CLI::Option* const option = verb.get_option_no_throw(name);
    return option && option->count() > 0;
  };
  return given("--isolate-plugins") && verb.get_option_no_throw("--isolate");
}

bool json_output = false;  // for the handler below, which gets nothing

/// Reports that memory ran out, without allocating. Returns the exit code.
int without_memory(bool json) {
  static constexpr char kText[] = "error[TN150]: memory ran out\n  try:      give smaller inputs, use fewer threads, or free memory\n";
  static constexpr char kJson[] =
      "{\"error\": {\"code\": 150, \"name\": \"out_of_memory\", \"place\": \"tenon\", \"what\": \"memory ran out\", "
      "\"expected\": \"more memory\", \"found\": \"an allocation that failed\", "
      "\"advice\": \"give smaller inputs, use fewer threads, or free memory\"}}\n";
  const ssize_t written = json ? ::write(STDOUT_FILENO, kJson, sizeof kJson - 1) : ::write(STDERR_FILENO, kText, sizeof kText - 1);
  return written < 0 ? exit_code_of(Code::write_failed) : exit_code_of(Code::out_of_memory);
}

/// The last resort: some libraries' destructors allocate (those of JSON values do), and no exception may leave a destructor.
[[noreturn]] void end_without_memory() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) { _exit(without_memory(json_output)); } catch (...) {
  }
  std::abort();
}

int run_verb(int argc, const char* const* argv, Console& console) {
  CLI::App app("Tenon compiles neural networks.", "tenon");
  app.set_version_flag("--version", kProducer, "print the version");
  app.set_help_flag("-h,--help", "show the usual options, with examples");
  app.set_help_all_flag("--help-all", "show all options");
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.footer("\n`tenon help VERB` shows a verb's options, with examples.");
  Action action;
  for (const NamedVerb& verb : all_verbs()) add_verb(app, verb, console, action);
  if (argc == 1) {
    std::fputs(app.help().c_str(), stdout);
    return console.finish({});
  }
  if (auto known = check_verb(app, argc, argv); !known) return console.finish(known);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help and --version
    return app.exit(asked);
  } catch (const CLI::ParseError& e) { return console.finish(usage_error(app, e, argc, argv)); }
  if (isolates_plugins(app)) console.isolate = true;
  console.files = files_of(*app.get_subcommands().front());
  if (auto checked = console.files.check(); !checked) return console.finish(checked);
  const auto rest = [&] { return console.finish(action(console)); };
  if (!console.isolate) return rest();
  const auto code = run_isolated(rest, std::chrono::seconds(console.call_timeout));
  return code ? *code : console.finish(std::unexpected(code.error()));
}

}  // namespace

int run(int argc, const char* const* argv) {
  Console console;
  console.json = json_output = has_json_flag(argc, argv);
  std::set_terminate(end_without_memory);
  std::signal(SIGABRT, [](int) { _exit(exit_code_of(Code::internal)); });  // an assertion of ours
  try {
    return run_verb(argc, argv, console);
  } catch (...) {
    try {
      return console.finish(exception_error(argc > 1 ? argv[1] : "tenon"));
    } catch (...) { return without_memory(console.json); }
  }
}

}  // namespace tenon::cli
