// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// A compile option as its front ends spell it: an entry of the table in include/tenon/compile_options.h.
struct OptionRow {
  std::string_view name;          ///< of the field of tenon::CompileOptions: "opt", "libraries.files"
  std::string_view flag;          ///< "--opt"; empty: the command line does not have it
  std::string_view value;         ///< what --help calls its value; empty: what it calls values of its type
  std::string_view help;          ///< the text of --help
  std::string_view group = {};    ///< the section of --help; empty: the common options
  std::string_view choices = {};  ///< enumerators, a space between two; the first is 0
  bool scalar = false;            ///< the compiler reads the value as it is given (ScalarOptions)
  bool saving = false;            ///< concerns the file that is written
  bool running = false;           ///< also counts where an engine that was built before runs
  std::optional<int64_t> least = {}, most = {};
  std::string_view problem = {}, advice = {};  ///< words of the error for a value that the option does not have
};

/// In the order of the table.
std::span<const OptionRow> option_rows();
/// name: that of a row.
const OptionRow& option_row(std::string_view name);
/// "f32", "bf16"; an index is the enumerator's value.
std::vector<std::string> choices_of(const OptionRow& row);
/// "0 to 3", "1 or more"; row: with bounds.
std::string bounds_of(const OptionRow& row);

}  // namespace tenon::compiler
