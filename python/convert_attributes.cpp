// SPDX-License-Identifier: Apache-2.0
// Attributes and types to Python and back.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "handles.h"
#include "ops/core/op.h"
#include "ops/core/schema.h"

namespace tenon::python {
namespace {

using Kind = ops::AttributeSpec::Kind;

nb::object text(const std::string& s) {
  return nb::steal(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "surrogateescape"));
}

[[noreturn]] void refuse(std::string_view name, nb::handle value, std::string_view expected) {
  raise(fail(Code::bad_attribute, "attribute '" + std::string(name) + "'", "the value is of the wrong kind")
            .expected(std::string(expected))
            .found(nb::cast<std::string>(nb::repr(value))));
}

std::string text_of(std::string_view name, nb::handle value) {
  if (PyBytes_Check(value.ptr())) return {PyBytes_AsString(value.ptr()), static_cast<size_t>(PyBytes_Size(value.ptr()))};
  if (!PyUnicode_Check(value.ptr())) refuse(name, value, "text");
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogateescape"));
  return {PyBytes_AsString(bytes.ptr()), static_cast<size_t>(PyBytes_Size(bytes.ptr()))};
}

bool is_text(nb::handle v) { return PyUnicode_Check(v.ptr()) || PyBytes_Check(v.ptr()); }
bool is_array(nb::handle v) { return PyObject_HasAttrString(v.ptr(), "dtype") && PyObject_HasAttrString(v.ptr(), "tobytes"); }
bool is_list(nb::handle v) { return PyList_Check(v.ptr()) || PyTuple_Check(v.ptr()); }

int64_t integer_of(std::string_view name, nb::handle v) {
  if (!PyIndex_Check(v.ptr())) refuse(name, v, "an integer");
  const nb::object number = nb::steal(PyNumber_Index(v.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  return nb::cast<int64_t>(number);
}

float number_of(std::string_view name, nb::handle v) {
  if (is_text(v)) refuse(name, v, "a number");
  const double value = PyFloat_AsDouble(v.ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  return static_cast<float>(value);
}

template <class F>
auto list_of(std::string_view name, nb::handle value, F f) {
  std::vector<decltype(f(name, value))> out;
  const nb::object items = is_array(value) ? value.attr("tolist")() : nb::borrow(value);
  if (!is_list(items)) refuse(name, value, "a list");
  for (nb::handle item : items) out.push_back(f(name, item));
  return out;
}

Kind kind_of(std::string_view name, nb::handle v) {
  if (is_text(v)) return Kind::text;
  if (is_array(v) && nb::cast<int>(v.attr("ndim")) > 0) return Kind::tensor;
  if (PyFloat_Check(v.ptr())) return Kind::number;
  if (PyIndex_Check(v.ptr())) return Kind::integer;
  if (!is_list(v)) {
    if (is_array(v)) return Kind::number;
    refuse(name, v, "an int, a float, text, a list of one of these, or an array");
  }
  bool floats = false;
  for (nb::handle item : v) {
    if (is_text(item)) return Kind::strings;
    floats |= PyFloat_Check(item.ptr()) || !PyIndex_Check(item.ptr());
  }
  return floats ? Kind::floats : Kind::ints;
}

ir::Attribute made(Kind kind, std::string_view name, nb::handle v) {
  switch (kind) {
    case Kind::integer: return integer_of(name, v);
    case Kind::number: return number_of(name, v);
    case Kind::text:
    case Kind::type: return text_of(name, v);
    case Kind::ints: return list_of(name, v, integer_of);
    case Kind::floats: return list_of(name, v, number_of);
    case Kind::strings: return list_of(name, v, text_of);
    case Kind::tensor: return tensor_of(v);
    case Kind::graph: break;
  }
  refuse(name, v, "no graph: bodies are given apart");
}

Dim dim_of(Symbols& symbols, nb::handle size) {
  if (size.is_none()) return symbols.fresh();
  if (PyUnicode_Check(size.ptr())) {
    const auto name = nb::cast<std::string>(size);
    const auto known = symbols.parse(name);
    return known ? *known : symbols.symbol(name);
  }
  const int64_t number = integer_of("shape", size);
  if (number < 0)
    raise(fail(Code::bad_usage, "shape", "a size cannot be negative")
              .found(std::to_string(number))
              .advice("None is a size that is not known"));
  return Dim(number);
}

}  // namespace

nb::object python_of(const ir::Attribute& attribute) {
  return std::visit(
      [](const auto& v) -> nb::object {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Tensor>) return numpy_of(v);
        else if constexpr (std::is_same_v<T, std::string>) return text(v);
        else if constexpr (std::is_same_v<T, ir::Strings>) {
          nb::list out;
          for (const std::string& s : v) out.append(text(s));
          return out;
        } else return nb::cast(v);
      },
      attribute);
}

ir::Attribute attribute_of(const ir::Op& op, std::string_view name, nb::handle value) {
  for (const ops::AttributeSpec& spec : ops::attribute_specs(ops::def_of(op)))
    if (spec.name == name) return made(spec.kind, name, value);
  return made(kind_of(name, value), name, value);
}

ir::Attributes attributes_of(const ir::Op& op, const nb::dict& values) {
  ir::Attributes out;
  for (auto [key, value] : values) {
    if (value.is_none()) continue;
    const auto name = nb::cast<std::string>(key);
    out.set(name, attribute_of(op, name, value));
  }
  return out;
}

const ir::Op& op_named(const ir::OpTable& ops, std::string_view name, std::string_view domain) {
  const size_t colons = name.rfind("::");
  if (colons != name.npos) {
    domain = name.substr(0, colons);
    name = name.substr(colons + 2);
  }
  if (domain == "ai.onnx") domain = {};
  if (const ir::Op* op = ops.find(domain, name)) return *op;
  raise(fail(Code::not_supported, std::string(domain) + (domain.empty() ? "" : "::") + std::string(name), "no op of this name")
            .advice("check the name and the domain (domain::Name); a graph made or read with keep_unknown=True takes any"));
}

nb::object shape_of(const ir::Type& type) {
  if (!type.shape) return nb::none();
  nb::list out;
  for (Dim d : *type.shape) {
    if (d.is_number()) out.append(d.value());
    else if (d.is_overflow()) out.append(nb::none());
    else out.append(d.text());
  }
  return nb::tuple(out);
}

ir::Type type_of(Symbols& symbols, nb::handle dtype, nb::handle shape) {
  ir::Type type(dtype_of(dtype));
  if (shape.is_none()) return type;
  type.shape.emplace();
  for (nb::handle size : shape) type.shape->push_back(dim_of(symbols, size));
  return type;
}

}  // namespace tenon::python
