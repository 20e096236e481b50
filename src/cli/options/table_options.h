// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <type_traits>

#include <CLI/CLI.hpp>

#include "compiler/options/scalar_options.h"

namespace tenon::cli {

/// Gives the option the group of its row, the name of its value, and the names of an enumeration as the only values.
CLI::Option* describe_option(CLI::Option* option, const compiler::OptionRow& row);

/// Adds the option of a row of the table of compile options: a flag for a bool, else an option that fills `value`, one element each time
/// where that is a vector. name: that of the row.
template <class T>
CLI::Option* add_table_option(CLI::App& app, std::string_view name, T& value) {
  const compiler::OptionRow& row = compiler::option_row(name);
  const std::string flag(row.flag), help(row.help);
  if constexpr (std::is_same_v<T, bool>) return describe_option(app.add_flag(flag, value, help), row);
  else if constexpr (requires { value.emplace_back(); })
    return describe_option(app.add_option(flag, value, help), row)->allow_extra_args(false);
  else return describe_option(app.add_option(flag, value, help), row);
}

/// Adds the options of ScalarOptions: with `saving` those that concern the written file, else the others.
void add_scalar_options(CLI::App& app, compiler::ScalarOptions& values, bool saving);

}  // namespace tenon::cli
