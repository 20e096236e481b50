// SPDX-License-Identifier: Apache-2.0
#include "sentence.h"

namespace tenon::python {

namespace nb = nanobind;

std::string text_of(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  const char* bytes = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), nullptr) : nullptr;
  if (!bytes) PyErr_Clear();
  return bytes ? bytes : "";
}

std::string sentence_of(nb::handle error) {
  std::string out = std::string(nb::type_name(error.type()).c_str()) + ": " + text_of(error);
  nb::object frame = nb::getattr(error, "__traceback__");
  if (frame.is_none()) return out;
  for (nb::object next = nb::getattr(frame, "tb_next"); !next.is_none(); next = nb::getattr(frame, "tb_next")) frame = next;
  const std::string file = text_of(nb::getattr(nb::getattr(nb::getattr(frame, "tb_frame"), "f_code"), "co_filename"));
  return out + " (" + file.substr(file.rfind('/') + 1) + ":" + text_of(nb::getattr(frame, "tb_lineno")) + ")";
}

}  // namespace tenon::python
