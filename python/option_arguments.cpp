// SPDX-License-Identifier: Apache-2.0
#include "option_arguments.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <type_traits>

#include "base/dtype.h"
#include "base/nearest.h"
#include "compiler/options/option_table.h"
#include "engine_values.h"
#include "plugins/environment.h"

namespace tenon_python {

namespace nb = nanobind;

namespace {

/// A keyword of the table, and what it is given.
struct Argument {
  const char* function;
  const char* keyword;
  const char* row;   ///< OptionRow::name
  const char* hint;  ///< its type, as Python writes it
  nb::handle value;
};

template <class T>
T cast(const Argument& argument) {
  T out{};
  if (nb::try_cast(argument.value, out)) return out;
  const std::string text = std::string(argument.function) + "(): " + argument.keyword + " must be " + argument.hint + ", found " +
                           nb::type_name(argument.value.type()).c_str();
  throw nb::type_error(text.c_str());
}

template <class T>
void assign(const Argument& argument, T& out) {
  out = cast<T>(argument);
}

template <class T>
  requires std::is_enum_v<T>
void assign(const Argument& argument, T& out) {
  const auto name = cast<std::string>(argument);
  const tenon::compiler::OptionRow& row = tenon::compiler::option_row(argument.row);
  const std::vector<std::string> names = tenon::compiler::choices_of(row);
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return void(out = static_cast<T>(found - names.begin()));
  std::string expected;
  for (const std::string& n : names) expected += (expected.empty() ? "" : n == names.back() ? " or " : ", ") + n;
  const std::string problem(row.problem.empty() ? "the option has no such value" : row.problem);
  raise(tenon::Error{tenon::Code::bad_usage, argument.keyword, problem, expected, name,
                     tenon::did_you_mean(name, names, std::string(row.advice))});
}

void assign(const Argument& argument, std::filesystem::path& out) {
  if (const auto path = cast<std::optional<std::filesystem::path>>(argument)) out = *path;
}

/// A file, or an object with the fields as to_dict().
void assign(const Argument& argument, tenon::BuildConfigSource& out) {
  if (nb::hasattr(argument.value, "to_dict"))
    out.text = nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(argument.value.attr("to_dict")()));
  else if (const auto path = cast<std::optional<std::filesystem::path>>(argument)) out.file = *path;
}

void assign(const Argument& argument, std::chrono::milliseconds& out) { out = tenon::python::timeout_of(cast<double>(argument)); }

void assign(const Argument& argument, std::vector<tenon::Pin>& out) {
  for (const auto& [name, backend] : cast<std::map<std::string, std::string>>(argument)) out.push_back({name, backend});
}

tenon::DType type_of(const Argument& argument, const std::string& name) {
  if (const auto known = tenon::dtype_named(name)) return *known;
  raise(
      tenon::Error{tenon::Code::bad_usage, argument.keyword, "there is no such element type", R"({"f64": "f32", "i64": "i32"})", name, ""});
}

void assign(const Argument& argument, std::map<tenon::DType, tenon::DType>& out) {
  for (const auto& [from, to] : cast<std::map<std::string, std::string>>(argument))
    out.emplace(type_of(argument, from), type_of(argument, to));
}

/// A size: a number, or the least, the usual and the most.
using Size = std::variant<int64_t, std::tuple<int64_t, int64_t, int64_t>>;

void assign(const Argument& argument, std::map<std::string, tenon::InputRange>& out) {
  for (const auto& [input, sizes] : cast<std::map<std::string, std::vector<Size>>>(argument)) {
    tenon::InputRange& range = out[input];
    for (const Size& size : sizes) {
      const int64_t* one = std::get_if<int64_t>(&size);
      const auto [least, usual, most] = one ? std::tuple(*one, *one, *one) : std::get<1>(size);
      range.least.push_back(least);
      range.usual.push_back(usual);
      range.most.push_back(most);
    }
  }
}

[[noreturn]] void refuse_keyword(const char* function, const std::string& keyword, const std::vector<std::string>& known) {
  const std::string near = tenon::nearest_name(keyword, known);
  const std::string text = std::string(function) + "() got an unexpected keyword argument '" + keyword + "'" +
                           (near.empty() ? "" : "; did you mean '" + near + "'?");
  throw nb::type_error(text.c_str());
}

}  // namespace

void read_options(const char* function, const nb::kwargs& given, bool saving, tenon::CompileOptions& out) {
  std::vector<std::string> known;
#define TENON_PYTHON_OPTION(KEYWORD, FIELD, HINT, SAVING)                                                 \
  if (saving || !SAVING) {                                                                                \
    known.emplace_back(#KEYWORD);                                                                         \
    if (given.contains(#KEYWORD)) assign({function, #KEYWORD, #FIELD, HINT, given[#KEYWORD]}, out.FIELD); \
  }
#include "tenon/compile_options.inc"
  for (const auto& [key, value] : given)
    if (const auto keyword = nb::cast<std::string>(key); std::ranges::find(known, keyword) == known.end())
      refuse_keyword(function, keyword, known);
}

}  // namespace tenon_python
