// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/console/file_arguments.h"

namespace tenon::cli {

/// An option or a positional argument of a command, as declared to the parser.
struct ArgumentInfo {
  std::vector<std::string> names;    ///< "-o", "--output"; for a positional argument only its name
  std::string value;                 ///< placeholder of the value: "FILE", "f32|bf16"; empty: a flag
  std::string help;                  ///< text of --help, default included
  std::vector<std::string> choices;  ///< valid values of the positional VERB: the program's verbs
  FileRole role = FileRole::none;
  std::string group;  ///< section of --help
  bool required = false, repeated = false;

  bool takes_value() const { return !value.empty(); }
};

/// The program or one of its verbs: what help, completion and the manual page show.
struct CommandInfo {
  std::string name, summary, examples;
  std::vector<ArgumentInfo> positionals, options;
  std::vector<CommandInfo> verbs;  ///< without hidden ones
};

/// Collects the description of a program from its parser.
CommandInfo command_info(const CLI::App& app);

}  // namespace tenon::cli
