// SPDX-License-Identifier: Apache-2.0
// The buffer protocol under the limited API of Python 3.10, whose headers hide it. CPython made it a part of the stable ABI in 3.11, with
// the layout and the functions that 3.10 has (https://docs.python.org/3/c-api/stable.html).
#pragma once
#include <Python.h>

#if defined(Py_LIMITED_API) && Py_LIMITED_API < 0x030b0000
extern "C" {
struct Py_buffer {
  void* buf;
  PyObject* obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
};
int PyObject_CheckBuffer(PyObject* object);
int PyObject_GetBuffer(PyObject* object, Py_buffer* view, int flags);
void PyBuffer_Release(Py_buffer* view);
}
constexpr int PyBUF_READ = 0x100, PyBUF_WRITE = 0x200, PyBUF_C_CONTIGUOUS = 0x38;
#endif
