// SPDX-License-Identifier: Apache-2.0
#include "cli/console/command_info.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/console/option_groups.h"

namespace tenon::cli {
namespace {

/// The names of CLI::IsMember, which the type name has after a colon: "TEXT:{f32,bf16}".
std::vector<std::string> choices_of(const std::string& type) {
  const size_t open = type.find(":{"), close = type.rfind('}');
  if (open == type.npos || close == type.npos) return {};
  return CLI::detail::split(type.substr(open + 2, close - open - 2), ',');
}

/// "f32|bf16", "0..3" (the last check's words), "FILE"; a number without a name of its own is N.
std::string value_of(const std::string& type, const std::vector<std::string>& choices) {
  constexpr size_t kMostShown = 40;
  if (!choices.empty()) {
    std::string all;
    for (const std::string& c : choices) all += (all.empty() ? "" : "|") + c;
    if (all.size() <= kMostShown) return all;
  }
  const std::string plain = type.substr(0, type.find(':'));
  if (plain == "INT" || plain == "UINT" || plain == "FLOAT") return "N";
  return plain == "TEXT" || plain.empty() ? "TEXT" : plain;
}

/// The description of a check of numbers: "0 to 3", "1 or more".
std::string bounds_of(const std::string& type) {
  const size_t colon = type.find(':');
  return colon == type.npos || type[colon + 1] == '{' ? "" : type.substr(colon + 1);
}

std::string help_of(const CLI::Option& option, const std::string& type) {
  std::string out = option.get_description();
  std::string note = bounds_of(type);
  if (!option.get_default_str().empty()) note += (note.empty() ? "" : "; ") + ("default: " + option.get_default_str());
  return note.empty() ? out : out + " (" + note + ")";
}

ArgumentInfo row_of(const CLI::Option& option) {
  ArgumentInfo out;
  if (option.get_positional()) out.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  const std::string type = option.get_type_name();
  out.choices = choices_of(type);
  const bool flag = option.get_items_expected_min() == 0;
  if (!flag) out.value = value_of(type, out.choices);
  out.help = help_of(option, type);
  out.role = file_role(option);
  out.group = option.get_group();
  out.required = option.get_required();
  out.repeated = option.get_expected_max() > 1;
  return out;
}

/// Without hidden ones.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<std::string> names_of_verbs(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* verb : subcommands_of(app)) out.push_back(verb->get_name());
  return out;
}

}  // namespace

CommandInfo command_info(const CLI::App& app) {
  CommandInfo out{app.get_name(), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const bool help : {false, true})  // the parser has --help first, help lists it last
    for (const CLI::Option* option : app.get_options())
      if (!option->get_group().empty() && option->get_name().starts_with("--help") == help)
        (option->get_positional() ? out.positionals : out.options).push_back(row_of(*option));
  for (ArgumentInfo& p : out.positionals)
    if (p.names[0] == "VERB") p.choices = names_of_verbs(*app.get_parent());
  for (const CLI::App* verb : subcommands_of(app)) out.verbs.push_back(command_info(*verb));
  return out;
}

void group_options(CLI::App& verb, std::string_view group, std::initializer_list<const char*> names) {
  for (const char* name : names) verb.get_option(name)->group(std::string(group));
}

}  // namespace tenon::cli
