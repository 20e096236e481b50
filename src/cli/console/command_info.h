// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/console/file_arguments.h"

namespace tenon::cli {

/// An option or a positional argument, as the parser has it.
struct ArgumentRow {
  std::vector<std::string> names;    ///< "-o", "--output"; of a positional its name alone
  std::string value;                 ///< "FILE", "f32|bf16"; empty: a flag
  std::string help;                  ///< with its default
  std::vector<std::string> choices;  ///< of a positional VERB, the program's verbs
  FileRole role = FileRole::none;
  std::string group;
  bool required = false, repeated = false;

  bool takes_value() const { return !value.empty(); }
};

/// A command, or a verb of one.
struct CommandRow {
  std::string name, summary, examples;
  std::vector<ArgumentRow> positionals, options;
  std::vector<CommandRow> verbs;  ///< without hidden ones
};

/// All that help, completion and the manual page follow from.
CommandRow command_table(const CLI::App& app);

}  // namespace tenon::cli
