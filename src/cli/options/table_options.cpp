// SPDX-License-Identifier: Apache-2.0
#include "cli/options/table_options.h"

#include <algorithm>
#include <concepts>
#include <utility>

#include "base/nearest.h"
#include "cli/console/number_checks.h"

namespace tenon::cli {
namespace {

/// One of the names; the error has the nearest one. Described as CLI::IsMember is, which `tenon completion` reads.
CLI::Validator is_one_of(const std::vector<std::string>& names) {
  const CLI::Validator check = CLI::IsMember(names);
  return CLI::Validator(
      [check, names](std::string& text) {
        const std::string problem = check(text), near = did_you_mean(text, names);
        return problem.empty() || near.empty() ? problem : problem + "; " + near;
      },
      check.get_description());
}

}  // namespace

CLI::Option* describe_option(CLI::Option* option, const compiler::OptionRow& row) {
  if (!row.group.empty()) option->group(std::string(row.group));
  if (!row.value.empty()) option->type_name(std::string(row.value));
  if (!row.choices.empty()) option->check(is_one_of(compiler::choices_of(row)));
  return option;
}

namespace {

/// On the command line. Its default is part of the help, unless that has its own words for it.
struct AddScalar {
  CLI::App& app;

  void operator()(const compiler::OptionRow& row, bool& value) const {
    const auto assign = [&value, given = !value] { value = given; };
    describe_option(app.add_flag_callback(std::string(row.flag), assign, std::string(row.help)), row);
  }

  template <class T>
    requires std::is_enum_v<T>
  void operator()(const compiler::OptionRow& row, T& value) const {
    const auto names = compiler::choices_of(row);
    const auto assign = [&value, names](const std::string& given) {
      value = static_cast<T>(std::ranges::find(names, given) - names.begin());
    };
    CLI::Option* const option = app.add_option_function<std::string>(std::string(row.flag), assign, std::string(row.help));
    describe_option(option, row)->default_str(names[static_cast<size_t>(std::to_underlying(value))]);
  }

  template <class T>
  void operator()(const compiler::OptionRow& row, T& value) const {
    CLI::Option* const option = add_table_option(app, row.name, value);
    if (row.least && row.most) option->check(between(*row.least, *row.most));
    else if (row.least) option->check(at_least(*row.least));
    if (!row.help.contains("(default")) option->capture_default_str();
  }
};

}  // namespace

void add_scalar_options(CLI::App& app, compiler::ScalarOptions& values, bool saving) {
  compiler::for_each_scalar(values, [&](const compiler::OptionRow& row, auto& value) {
    if (!row.flag.empty() && row.saving == saving) AddScalar{app}(row, value);
  });
}

}  // namespace tenon::cli
