// SPDX-License-Identifier: Apache-2.0
#include "plugins/sizes.h"

#include <nanobind/stl/string.h>

#include "base/dim/dim.h"
#include "plugin/public/plugins.h"

namespace tenon::python {

nb::object size_of(const tenon_host* host, tenon_dim dim) {
  int64_t number = 0;
  if (host->dim_number(host, dim, &number)) return nb::int_(number);
  return nb::cast(SymbolicSize{host, dim});
}

tenon_dim dim_of(const tenon_host* host, nb::handle size) {
  if (SymbolicSize known{}; nb::try_cast(size, known)) return known.dim;
  if (int64_t number = 0; nb::try_cast(size, number)) return host->dim(host, number);
  throw nb::type_error(
      ("a size is an int or made of the sizes of operands, not " + std::string(nb::type_name(size.type()).c_str())).c_str());
}

namespace {

std::string text_of(const SymbolicSize& size) { return plugin::dim_of(size.dim).text(); }

template <int32_t operation>
nb::object apply(const SymbolicSize& a, nb::handle b) {
  return size_of(a.host, a.host->dim_of(a.host, operation, a.dim, dim_of(a.host, b)));
}

template <int32_t operation>
nb::object apply_reversed(const SymbolicSize& b, nb::handle a) {
  return size_of(b.host, b.host->dim_of(b.host, operation, dim_of(b.host, a), b.dim));
}

bool holds(const tenon_host* host, int32_t operation, tenon_dim a, tenon_dim b) {
  int64_t answer = 0;
  if (host->dim_number(host, host->dim_of(host, operation, a, b), &answer)) return answer != 0;
  throw nb::value_error(("it depends on data how " + plugin::dim_of(a).text() + " compares to " + plugin::dim_of(b).text() +
                         "; min(), max() and ceil_div() of a size need no comparison")
                            .c_str());
}

template <int32_t operation, bool swapped = false, bool negated = false>
bool compare(const SymbolicSize& a, nb::handle other) {
  const tenon_dim b = dim_of(a.host, other);
  return holds(a.host, operation, swapped ? b : a.dim, swapped ? a.dim : b) != negated;
}

}  // namespace

void bind_sizes(nb::module_& m) {
  nb::class_<SymbolicSize>(m, "SymbolicSize")
      .def("__add__", &apply<TENON_ADD>)
      .def("__radd__", &apply<TENON_ADD>)
      .def("__sub__", &apply<TENON_SUBTRACT>)
      .def("__rsub__", &apply_reversed<TENON_SUBTRACT>)
      .def("__mul__", &apply<TENON_MULTIPLY>)
      .def("__rmul__", &apply<TENON_MULTIPLY>)
      .def("__floordiv__", &apply<TENON_FLOOR_DIVIDE>)
      .def("__rfloordiv__", &apply_reversed<TENON_FLOOR_DIVIDE>)
      .def("ceil_div", &apply<TENON_CEIL_DIVIDE>, nb::arg("divisor"))
      .def("min", &apply<TENON_MIN>, nb::arg("other"))
      .def("max", &apply<TENON_MAX>, nb::arg("other"))
      .def("__eq__", &compare<TENON_EQUAL>)
      .def("__ne__", &compare<TENON_EQUAL, false, true>)
      .def("__lt__", &compare<TENON_LESS>)
      .def("__gt__", &compare<TENON_LESS, true>)
      .def("__le__", &compare<TENON_LESS, true, true>)
      .def("__ge__", &compare<TENON_LESS, false, true>)
      .def("__bool__", [](const SymbolicSize& a) { return !holds(a.host, TENON_EQUAL, a.dim, a.host->dim(a.host, 0)); })
      .def("__repr__", &text_of);
  nb::class_<DataDependentSize>(m, "SizedByData")
      .def(nb::init<nb::object>(), nb::arg("most"))
      .def("__repr__", [](const DataDependentSize& s) { return nb::str("sized_by_data({})").format(s.most); });
}

}  // namespace tenon::python
