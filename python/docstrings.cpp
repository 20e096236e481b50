// SPDX-License-Identifier: Apache-2.0
#include "docstrings.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace tenon::python {

namespace nb = nanobind;

namespace {

struct Docstring {
  std::string_view name;
  const char* text;
};

constexpr Docstring kDocstrings[] = {
#define TENON_DOCSTRING(name, text) {name, text},
#include "tenon/docstrings.inc"
#undef TENON_DOCSTRING
};

/// Null where there is none.
const char* docstring_of(std::string_view name) {
  const Docstring* const found = std::ranges::lower_bound(kDocstrings, name, {}, &Docstring::name);
  return found != std::end(kDocstrings) && found->name == name ? found->text : nullptr;
}

using NewFunction = decltype(nb::detail::nb_backend.nb_func_new);
NewFunction new_function = nullptr;

/// The function's name in the name of a record, which is "def compile(model, ...) -> Engine" where nb::sig gives the signature.
std::string name_in(std::string_view text) {
  if (text.starts_with("def ")) text.remove_prefix(4);
  return std::string(text.substr(0, text.find('(')));
}

/// Stands in for nanobind's entry of its function table, and calls it: the one place that every function passes with its name and scope.
PyObject* new_documented_function(nb::detail::nb_internals* internals, const nb::detail::func_data_init_base* init) noexcept {
  using Flags = nb::detail::func_flags;
  const auto has = [&](Flags flag) { return (init->flags & static_cast<uint32_t>(flag)) != 0; };
  if (has(Flags::has_name) && has(Flags::has_scope) && !has(Flags::has_doc)) {
    std::string name = name_in(init->name);
    if (PyType_Check(init->scope)) name = nb::cast<std::string>(nb::handle(init->scope).attr("__qualname__")) + "." + name;
    if (const char* const text = docstring_of(name)) {
      auto* const documented = const_cast<nb::detail::func_data_init_base*>(init);  // the record is its caller's local
      documented->doc = text;
      documented->flags |= static_cast<uint32_t>(Flags::has_doc);
    }
  }
  return new_function(internals, init);
}

bool is_property(nb::handle object) { return std::string_view(nb::type_name(object.type()).c_str()) == "property"; }

}  // namespace

void document_functions() {
  if (!new_function) new_function = std::exchange(nb::detail::nb_backend.nb_func_new, &new_documented_function);
}

void document_classes(nb::module_& m) {
  for (const auto& [name, object] : nb::borrow<nb::dict>(m.attr("__dict__"))) {
    if (!PyType_Check(object.ptr())) continue;
    const std::string type = nb::cast<std::string>(name);
    if (const char* const text = docstring_of(type)) object.attr("__doc__") = text;
    for (const nb::handle key : nb::list(object.attr("__dict__").attr("keys")())) {
      const nb::object member = object.attr("__dict__")[key];
      const char* const text = is_property(member) ? docstring_of(type + "." + nb::cast<std::string>(key)) : nullptr;
      if (text) member.attr("__doc__") = text;
    }
  }
}

}  // namespace tenon::python
