// SPDX-License-Identifier: Apache-2.0
#include "ml_dtypes_arrays.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

namespace tenon_python {
namespace {

struct MlDtype {
  tenon::DType dtype;
  const char* name;  ///< of ml_dtypes
  int bits;
};
constexpr MlDtype kMlDtypes[] = {
    {tenon::DType::bf16, "bfloat16", 16},
    {tenon::DType::f8e4m3fn, "float8_e4m3fn", 8},
    {tenon::DType::f8e4m3fnuz, "float8_e4m3fnuz", 8},
    {tenon::DType::f8e5m2, "float8_e5m2", 8},
    {tenon::DType::f8e5m2fnuz, "float8_e5m2fnuz", 8},
    {tenon::DType::f8e8m0, "float8_e8m0fnu", 8},
    {tenon::DType::f4e2m1, "float4_e2m1fn", 4},
    {tenon::DType::u4, "uint4", 4},
    {tenon::DType::i4, "int4", 4},
    {tenon::DType::u2, "uint2", 2},
    {tenon::DType::i2, "int2", 2},
};

using Bytes = nb::ndarray<const uint8_t, nb::device::cpu, nb::c_contig, nb::ndim<1>>;

nb::module_ numpy() { return nb::module_::import_("numpy"); }

/// u8[count]: one element a byte, a signed integer with its sign in the upper bits.
nb::object unpacked(const tenon::Array& array, const MlDtype& type, size_t count) {
  const auto* const in = static_cast<const uint8_t*>(array.data());
  const size_t bits = static_cast<size_t>(type.bits), in_byte = 8 / bits;
  const unsigned mask = (1U << bits) - 1;
  const bool is_signed = type.dtype == tenon::DType::i4 || type.dtype == tenon::DType::i2;
  auto out = std::make_unique<std::vector<uint8_t>>(count);
  for (size_t k = 0; k < count; ++k) {
    const unsigned value = in[k / in_byte] >> (k % in_byte * bits) & mask;
    (*out)[k] = static_cast<uint8_t>(is_signed && (value >> (bits - 1)) != 0 ? value | ~mask : value);
  }
  const size_t shape[] = {count};
  uint8_t* const data = out->data();
  const nb::capsule owner(out.release(), [](void* p) noexcept { delete static_cast<std::vector<uint8_t>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, uint8_t>(data, 1, shape, owner));
}

/// u8[bytes]: the memory of `array`.
nb::object bytes_of(const tenon::Array& array) {
  const nb::capsule owner(new std::shared_ptr<const void>(array.keeper()),
                          [](void* p) noexcept { delete static_cast<std::shared_ptr<const void>*>(p); });
  const size_t shape[] = {array.byte_size()};
  return nb::cast(nb::ndarray<nb::numpy, uint8_t>(const_cast<void*>(array.data()), 1, shape, owner));
}

/// None: ml_dtypes is not installed, or is too old to have the type.
nb::object installed(const MlDtype& type) {
  try {
    return nb::module_::import_("ml_dtypes").attr(type.name);
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_ImportError) || error.matches(PyExc_AttributeError)) return nb::none();
    throw;
  }
}

}  // namespace

nb::object MlDtypesArray::bytes() const { return numpy().attr("ascontiguousarray")(array).attr("reshape")(-1).attr("view")("uint8"); }

tenon::Array MlDtypesArray::packed() const {
  const auto elements = nb::cast<Bytes>(bytes());
  const size_t width = static_cast<size_t>(bits), in_byte = 8 / width;
  const unsigned mask = (1U << width) - 1;
  auto out = std::make_shared<std::vector<uint8_t>>((elements.size() + in_byte - 1) / in_byte);
  for (size_t k = 0; k < elements.size(); ++k)
    (*out)[k / in_byte] |= static_cast<uint8_t>((elements.data()[k] & mask) << (k % in_byte * width));
  return {dtype, shape, out->data(), out->size(), out};
}

std::optional<MlDtypesArray> ml_dtypes_array(nb::handle value) {
  if (!nb::isinstance(value, numpy().attr("ndarray"))) return std::nullopt;
  const auto name = nb::cast<std::string>(value.attr("dtype").attr("name"));
  for (const MlDtype& type : kMlDtypes)
    if (name == type.name)
      return MlDtypesArray{type.dtype, type.bits, nb::cast<std::vector<int64_t>>(value.attr("shape")), nb::borrow(value)};
  return std::nullopt;
}

nb::object ml_dtypes_array_of(const tenon::Array& array) {
  for (const MlDtype& type : kMlDtypes) {
    if (type.dtype != array.dtype()) continue;
    const nb::object element = installed(type);
    if (element.is_none()) return element;
    size_t count = 1;
    for (const int64_t size : array.shape()) count *= static_cast<size_t>(size);
    const nb::object flat = type.bits < 8 ? unpacked(array, type, count) : bytes_of(array);
    return flat.attr("view")(element).attr("reshape")(nb::cast(array.shape()));
  }
  return nb::none();
}

}  // namespace tenon_python
