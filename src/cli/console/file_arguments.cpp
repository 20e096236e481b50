// SPDX-License-Identifier: Apache-2.0
#include "cli/console/file_arguments.h"

#include <CLI/CLI.hpp>

#include "import/external_files.h"

namespace tenon::cli {
namespace {

/// The file of "NAME=FILE" where the type is such, and of a text that may be either.
std::string file_in(const CLI::Option& option, const std::string& value) {
  const size_t equals = option.get_type_name().contains('=') ? value.find('=') : value.npos;
  return equals == value.npos ? value : value.substr(equals + 1);
}

void add_arguments(const CLI::App& app, CommandFiles& files) {
  for (const CLI::Option* option : app.get_options()) {
    const FileRole role = file_role(*option);
    for (const std::string& value : option->results()) {
      const std::string file = file_in(*option, value);
      if (role == FileRole::input) files.add_input(option->get_name(), file);
      if (role == FileRole::output) files.add_output(option->get_name(), file);
      if (role == FileRole::output_folder) files.add_output_folder(option->get_name(), file);
    }
  }
  for (const CLI::App* sub : app.get_subcommands()) add_arguments(*sub, files);
}

std::string value_of(const CLI::App& app, const std::string& name) {
  const CLI::Option* const option = app.get_option_no_throw(name);
  return option && option->count() == 1 ? option->results()[0] : "";
}

}  // namespace

FileRole file_role(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.starts_with("OUTDIR")) return FileRole::output_folder;
  if (type.starts_with("OUT")) return FileRole::output;
  if (type == "DIR") return FileRole::input_folder;
  return type.contains("FILE") || type == "LIB" ? FileRole::input : FileRole::none;
}

CommandFiles files_of(const CLI::App& verb) {
  CommandFiles out;
  add_arguments(verb, out);
  const CLI::Option* const weights_option = verb.get_option_no_throw("--external-weights");
  if (weights_option && weights_option->count() > 0) out.add_output("--external-weights", value_of(verb, "--output") + ".data");
  const std::string model = value_of(verb, "MODEL");
  if (model.empty() || !out.has_outputs()) return out;
  const auto external = import::external_files(model, value_of(verb, "--external-data"));
  if (!external) return out;  // the verb reports the error
  for (const auto& file : *external) out.add_input("MODEL's external data", file);
  return out;
}

void refuse_empty_names(CLI::App& verb) {
  for (CLI::Option* option : verb.get_options())
    if (file_role(*option) != FileRole::none && !option->get_positional())
      option->check([](const std::string& name) { return std::string(name.empty() ? "the name of a file is empty" : ""); });
}

}  // namespace tenon::cli
