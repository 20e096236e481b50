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
  std::string_view name;                         ///< of the field of tenon::CompileOptions: "opt", "libraries.files"
  std::string_view flag;                         ///< "--opt"; empty: the command line does not have it
  std::string_view value;                        ///< placeholder of its value in --help; empty: that of its type
  std::string_view help;                         ///< the text of --help
  std::string_view group = {};                   ///< the section of --help; empty: the common options
  std::string_view choices = {};                 ///< names of the enumerators, separated by spaces; the first is 0
  bool scalar = false;                           ///< a field of ScalarOptions: the compiler reads the value without further parsing
  bool saving = false;                           ///< changes only how the engine file is written
  bool running = false;                          ///< also has an effect when an existing engine is run
  std::optional<int64_t> least = {}, most = {};  ///< bounds of a number; nullopt: none
  std::string_view problem = {}, advice = {};    ///< what is wrong with an invalid value, and what to do: texts of its error
};

/// All options, in the order of the table.
std::span<const OptionRow> option_rows();
/// The option of that name, which must exist.
const OptionRow& option_row(std::string_view name);
/// The choices one by one ("f32", "bf16"); the index of one is the enumerator's value.
std::vector<std::string> choices_of(const OptionRow& row);
/// The bounds of an option that has some, as text: "0 to 3", "1 or more".
std::string bounds_of(const OptionRow& row);

}  // namespace tenon::compiler
