// SPDX-License-Identifier: Apache-2.0
// Tensors to NumPy and back.
#include "convert.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "handles.h"

namespace tenon::python {
namespace {

struct NumpyType {
  DType dtype;
  const char* name;      ///< NumPy's, or ml_dtypes'
  bool foreign = false;  ///< of ml_dtypes
};
constexpr NumpyType kTypes[] = {
    {DType::f32, "float32"},
    {DType::f64, "float64"},
    {DType::f16, "float16"},
    {DType::i8, "int8"},
    {DType::i16, "int16"},
    {DType::i32, "int32"},
    {DType::i64, "int64"},
    {DType::u8, "uint8"},
    {DType::u16, "uint16"},
    {DType::u32, "uint32"},
    {DType::u64, "uint64"},
    {DType::boolean, "bool"},
    {DType::c64, "complex64"},
    {DType::c128, "complex128"},
    {DType::bf16, "bfloat16", true},
    {DType::f8e4m3fn, "float8_e4m3fn", true},
    {DType::f8e4m3fnuz, "float8_e4m3fnuz", true},
    {DType::f8e5m2, "float8_e5m2", true},
    {DType::f8e5m2fnuz, "float8_e5m2fnuz", true},
    {DType::f8e8m0, "float8_e8m0fnu", true},
    {DType::f4e2m1, "float4_e2m1fn", true},
    {DType::u4, "uint4", true},
    {DType::i4, "int4", true},
    {DType::u2, "uint2", true},
    {DType::i2, "int2", true},
};

const NumpyType* numpy_type(DType dtype) {
  for (const NumpyType& t : kTypes)
    if (t.dtype == dtype) return &t;
  return nullptr;
}

DType dtype_of_numpy(std::string_view name) {
  for (const NumpyType& t : kTypes)
    if (t.name == name) return t.dtype;
  return DType::none;
}

nb::module_ numpy() { return nb::module_::import_("numpy"); }

nb::object foreign_type(const NumpyType& type) {
  try {
    return nb::module_::import_("ml_dtypes").attr(type.name);
  } catch (nb::python_error&) {
    raise(fail(Code::not_supported, type.name, "NumPy has no such element type").advice("install the package ml_dtypes"));
  }
}

nb::object numpy_of_strings(const Tensor& tensor) {
  nb::list items;
  for (const std::string& s : tensor.strings())
    items.append(nb::steal(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "surrogateescape")));
  const nb::object flat = numpy().attr("empty")(items.size(), nb::arg("dtype") = "object");
  flat[nb::slice(nb::none(), nb::none(), nb::none())] = items;
  return flat.attr("reshape")(nb::cast(tensor.shape()));
}

/// Types that share bytes between elements are spread out, one element a byte.
nb::object numpy_of_packed(const Tensor& tensor, const NumpyType& type) {
  nb::list items;
  for (int64_t i = 0; i < tensor.count(); ++i) items.append(nb::float_(tensor.number(i)));
  return numpy()
      .attr("array")(items, nb::arg("dtype") = "float32")
      .attr("reshape")(nb::cast(tensor.shape()))
      .attr("astype")(foreign_type(type));
}

/// The bytes as an array of plain type: the type itself, or unsigned integers of the same size.
nb::object raw_array(const Tensor& tensor, nb::dlpack::dtype_code code, int bits) {
  const nb::capsule owner(new Tensor(tensor), [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  std::vector<size_t> shape(tensor.shape().begin(), tensor.shape().end());
  const nb::dlpack::dtype type{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(tensor.data(), shape.size(), shape.data(), owner, nullptr, type));
}

Tensor strings_of(const nb::object& array, Sizes shape) {
  std::vector<std::string> items;
  for (nb::handle item : array.attr("ravel")().attr("tolist")()) {
    if (PyBytes_Check(item.ptr())) items.emplace_back(PyBytes_AsString(item.ptr()), static_cast<size_t>(PyBytes_Size(item.ptr())));
    else items.push_back(nb::cast<std::string>(nb::str(item)));
  }
  return Tensor::of_strings(std::move(shape), std::move(items));
}

}  // namespace

const char* numpy_name_of(DType dtype) {
  if (const NumpyType* type = numpy_type(dtype)) return type->name;
  raise(fail(Code::not_supported, "array", "this element type has no array in Python").found(std::string(name_of(dtype))));
}

nb::object numpy_dtype_of(DType dtype) {
  const nb::str name(numpy_name_of(dtype));
  const NumpyType& type = *numpy_type(dtype);
  return numpy().attr("dtype")(type.foreign ? foreign_type(type) : nb::object(name));
}

nb::object numpy_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::optional) return tensor.count() > 0 ? numpy_of(tensor.elements()[0]) : nb::none();
  if (tensor.dtype() == DType::sequence) {
    nb::list out;
    for (const Tensor& e : tensor.elements()) out.append(numpy_of(e));
    return out;
  }
  const DType dtype = tensor.dtype();
  if (dtype == DType::map) {
    const nb::object keys = numpy_of(tensor.elements()[0]).attr("tolist")(), values = numpy_of(tensor.elements()[1]).attr("tolist")();
    return nb::module_::import_("builtins").attr("dict")(nb::module_::import_("builtins").attr("zip")(keys, values));
  }
  if (dtype == DType::string) return numpy_of_strings(tensor);
  const NumpyType* type = numpy_type(dtype);
  if (!type) raise(fail(Code::not_supported, "array", "this element type has no array in Python").found(std::string(name_of(dtype))));
  using Dl = nb::dlpack::dtype_code;
  const int bits = bits_of(dtype);
  if (bits < 8 && dtype != DType::boolean) return numpy_of_packed(tensor, *type);
  if (type->foreign) return raw_array(tensor, Dl::UInt, bits).attr("view")(foreign_type(*type));
  if (dtype == DType::boolean) return raw_array(tensor, Dl::Bool, 8);
  if (is_complex(dtype)) return raw_array(tensor, Dl::Complex, bits);
  return raw_array(tensor, is_float(dtype) ? Dl::Float : is_signed(dtype) ? Dl::Int : Dl::UInt, bits);
}

Tensor tensor_of(nb::handle given, DType wanted) {
  nb::object array = numpy().attr("asarray")(given);
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  const auto shape = nb::cast<Sizes>(array.attr("shape"));
  if (wanted == DType::string || kind == "O" || kind == "U" || kind == "S") return strings_of(array, shape);
  DType dtype = dtype_of_numpy(nb::cast<std::string>(array.attr("dtype").attr("name")));
  if (wanted != DType::none && wanted != dtype) {
    const NumpyType* type = numpy_type(wanted);
    if (!type) raise(fail(Code::not_supported, "array", "this element type has no array in Python").found(std::string(name_of(wanted))));
    array = array.attr("astype")(type->foreign ? foreign_type(*type) : nb::object(nb::str(type->name)));
    dtype = wanted;
  }
  if (dtype == DType::none)
    raise(fail(Code::bad_input, "array", "this element type is not supported").found(nb::cast<std::string>(nb::str(array.attr("dtype")))));
  Tensor out = unwrap(Tensor::make(dtype, shape));
  if (bits_of(dtype) < 8 && dtype != DType::boolean) {
    int64_t i = 0;
    for (nb::handle item : array.attr("astype")("float64").attr("ravel")().attr("tolist")()) out.set_number(i++, nb::cast<double>(item));
    return out;
  }
  const nb::bytes bytes = nb::borrow<nb::bytes>(array.attr("tobytes")());
  std::memcpy(out.mutable_data(), bytes.c_str(), static_cast<size_t>(out.byte_size()));
  return out;
}

DType dtype_of(nb::handle dtype) {
  if (dtype.is_none()) return DType::none;
  if (PyLong_Check(dtype.ptr())) {
    if (const auto number = nb::cast<int64_t>(dtype); number == 0) return DType::none;
    else if (const auto found = dtype_from_onnx(number)) return *found;
  } else {
    const bool is_text = PyUnicode_Check(dtype.ptr());
    const auto name = nb::cast<std::string>(is_text ? nb::borrow(dtype) : numpy().attr("dtype")(dtype).attr("name"));
    if (const auto found = dtype_named(name)) return *found;
    if (const DType found = dtype_of_numpy(name); found != DType::none) return found;
  }
  raise(fail(Code::bad_usage, "dtype", "no element type has this name")
            .expected("f32, i64, ..., a NumPy dtype, or ONNX's number")
            .found(nb::cast<std::string>(nb::str(dtype))));
}

}  // namespace tenon::python
