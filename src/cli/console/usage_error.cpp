// SPDX-License-Identifier: Apache-2.0
#include "cli/console/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <vector>

#include "base/nearest.h"

namespace tenon::cli {
namespace {

std::string called(int argc, const char* const* argv) {
  std::string out = "tenon";
  for (int i = 1; i < argc; ++i) out += std::string(" ") + argv[i];
  return out.substr(0, 500);
}

/// The innermost command that was parsed.
const CLI::App& parsed_command(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? app : parsed_command(*verbs.front());
}

/// "rules why"
std::string words_of(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  if (!parent) return "";
  const std::string before = words_of(*parent);
  return before.empty() ? command.get_name() : before + " " + command.get_name();
}

std::string nearest_or(const std::string& nearest, const std::string& otherwise) {
  return nearest.empty() ? otherwise : "did you mean '" + nearest + "'?";
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); }))
    out.push_back(verb->get_name());
  return out;
}

Error unknown_option(const CLI::App& command, const std::string& option) {
  std::vector<std::string> known;
  for (const CLI::Option* o : command.get_options())
    for (const std::string& name : o->get_lnames()) known.push_back("--" + name);
  const std::string name = option.substr(0, option.find('='));
  return fail(Code::bad_usage, "command line", "there is no such option")
      .expected("an option that --help-all lists")
      .found(option)
      .advice(nearest_or(nearest_name(name, known), fmt::format("`tenon help {}` shows the options", words_of(command))));
}

}  // namespace

const CLI::App* find_verb(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

Error unknown_verb(const CLI::App& app, const std::string& name) {
  const std::vector<std::string> known = verbs_of(app);
  return fail(Code::bad_usage, "command line", "there is no such verb")
      .expected(fmt::format("one of: {}", fmt::join(known, ", ")))
      .found(name)
      .advice(nearest_or(nearest_name(name, known), "`tenon help` shows what each does"));
}

Error usage_error(const CLI::App& app, const CLI::ParseError& e, int argc, const char* const* argv) {
  const CLI::App& command = parsed_command(app);
  const auto unknown = app.remaining(true);
  const auto option = std::ranges::find_if(unknown, [](const std::string& word) { return word.starts_with('-'); });
  if (option != unknown.end()) return unknown_option(command, *option);
  const std::vector<std::string> verbs = verbs_of(command);
  if (!unknown.empty() && !verbs.empty()) return unknown_verb(command, unknown.front());
  if (!verbs.empty())
    return fail(Code::bad_usage, "command line", "a verb is missing")
        .expected(fmt::format("one of: {}", fmt::join(verbs, ", ")))
        .found(called(argc, argv));
  return fail(Code::bad_usage, "command line", e.what())
      .expected("a call as --help shows it")
      .found(called(argc, argv))
      .advice(fmt::format("`tenon help {}` shows it", words_of(command)));
}

}  // namespace tenon::cli
