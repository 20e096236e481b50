// SPDX-License-Identifier: Apache-2.0
#include "plugins/arrays.h"

#include <cstring>
#include <string>

#include "base/dtype.h"
#include "buffer.h"
#include "convert.h"
#include "sentence.h"

namespace tenon::python {

namespace {

/// Looked up once. Never destroyed: it may be needed until Python ends.
struct Numpy {
  nb::object ndarray, asarray, copyto;
  static const Numpy& get() {
    static const Numpy& out = *[] {
      const nb::module_ numpy = nb::module_::import_("numpy");
      return new Numpy{numpy.attr("ndarray"), numpy.attr("asarray"), numpy.attr("copyto")};
    }();
    return out;
  }
};

struct Torch {
  nb::module_ module;
  nb::object frombuffer, empty, tensor;
  static const Torch& get() {
    static const Torch& out = *[] {
      const nb::module_ torch = nb::module_::import_("torch");
      return new Torch{torch, torch.attr("frombuffer"), torch.attr("empty"), torch.attr("Tensor")};
    }();
    return out;
  }
};

nb::object dtype_for(DType dtype, ArrayKind kind) {
  if (kind == ArrayKind::numpy) return numpy_dtype_of(dtype);
  return Torch::get().module.attr(numpy_name_of(dtype));
}

[[noreturn]] void refuse(const TensorSpec& spec, nb::handle value, const char* result) {
  const auto type_text = [](nb::handle dtype, nb::handle shape) { return text_of(dtype) + " " + text_of(shape); };
  throw nb::type_error((std::string("result '") + result + "' is " + type_text(nb::getattr(value, "dtype"), nb::getattr(value, "shape")) +
                        ", and not " + type_text(spec.dtype, spec.shape))
                           .c_str());
}

bool equal(nb::handle a, nb::handle b) {
  if (a.is(b)) return true;
  const int answer = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ);
  if (answer < 0) throw nb::python_error();
  return answer == 1;
}

/// Copies an array with a buffer of the same layout in one piece. False: it has no such buffer.
bool copied_at_once(const TensorSpec& spec, void* data, nb::handle value) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(value.ptr(), &buffer, PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool fits = buffer.len == spec.bytes;
  if (fits) std::memmove(data, buffer.buf, static_cast<size_t>(buffer.len));
  PyBuffer_Release(&buffer);
  return fits;
}

}  // namespace

TensorSpec tensor_spec_of(const tenon_tensor& tensor, ArrayKind kind) {
  TensorSpec out{.type = tensor.dtype};
  if (tensor.dtype == TENON_NO_DTYPE) return out;
  const auto dtype = static_cast<DType>(tensor.dtype);
  out.sizes.assign(tensor.sizes, tensor.sizes + tensor.rank);
  out.elements = 1;
  nb::object sizes = nb::steal(PyTuple_New(tensor.rank));
  for (int32_t axis = 0; axis < tensor.rank; ++axis) {
    out.elements *= tensor.sizes[axis];
    PyTuple_SetItem(sizes.ptr(), axis, PyLong_FromLongLong(tensor.sizes[axis]));
  }
  out.bytes = out.elements * bits_of(dtype) / 8;
  out.shape = std::move(sizes);
  out.dtype = dtype_for(dtype, kind);
  return out;
}

ArrayView::ArrayView(const TensorSpec& spec, void* data, ArrayKind kind, bool writable) {
  if (!spec.shape.is_valid()) {
    array_ = nb::none();
    return;
  }
  static char nothing;
  // PyTorch warns of memory that is not to be written.
  const int access = writable || kind == ArrayKind::torch ? PyBUF_WRITE : PyBUF_READ;
  memory_ = nb::steal(PyMemoryView_FromMemory(spec.bytes > 0 ? static_cast<char*>(data) : &nothing, spec.bytes, access));
  if (!memory_.is_valid()) throw nb::python_error();
  if (kind == ArrayKind::numpy) array_ = Numpy::get().ndarray(spec.shape, spec.dtype, memory_);
  else if (spec.elements == 0) array_ = Torch::get().empty(spec.shape, nb::arg("dtype") = spec.dtype);
  else array_ = Torch::get().frombuffer(memory_, nb::arg("dtype") = spec.dtype).attr("view")(spec.shape);
}

bool ArrayView::release() {
  array_.reset();
  return !memory_.is_valid() || static_cast<uint32_t>(Py_REFCNT(memory_.ptr())) == 1;
}

void copy_to(const TensorSpec& spec, void* data, nb::handle value, ArrayKind kind, const char* result) {
  if (!spec.shape.is_valid()) return;
  const bool is_array = PyObject_TypeCheck(
      value.ptr(), reinterpret_cast<PyTypeObject*>((kind == ArrayKind::numpy ? Numpy::get().ndarray : Torch::get().tensor).ptr()));
  nb::object array = nb::borrow(value);
  if (!is_array && kind == ArrayKind::numpy) array = Numpy::get().asarray(value);
  else if (!is_array) array = Torch::get().module.attr("as_tensor")(value);
  if (!equal(nb::getattr(array, "dtype"), spec.dtype) || !equal(nb::getattr(array, "shape"), spec.shape)) refuse(spec, array, result);
  if (kind == ArrayKind::numpy && copied_at_once(spec, data, array)) return;
  const ArrayView target(spec, data, kind, true);
  if (kind == ArrayKind::numpy) Numpy::get().copyto(target.array(), array);
  else target.array().attr("copy_")(array);
}

}  // namespace tenon::python
