// SPDX-License-Identifier: Apache-2.0
#include "writable_memory.h"

#include "engine_values.h"
#include "ml_dtypes_arrays.h"

namespace tenon_python {

namespace {

[[noreturn]] void refuse(const nb::handle& value, const std::string& place, const std::string& expected) {
  raise({tenon::Code::bad_input, place, "this is no writable, C-contiguous array in CPU memory with a supported element type", expected,
         nb::type_name(value.type()).c_str(), "make one with numpy.empty"});
}

}  // namespace

tenon::OutputBuffer MemoryReader::read(const nb::handle& value, const std::string& place, const std::string& expected) {
  WritableArray array;
  if (!nb::try_cast(nb::borrow(value), array, false)) {
    if (const auto known = ml_dtypes_array(value)) return read(*known, place, expected);
    refuse(value, place, expected);
  }
  if (dtype_of(array.dtype()) == tenon::DType::none) refuse(value, place, expected);
  tenon::OutputBuffer out{.dtype = dtype_of(array.dtype()), .data = array.data(), .bytes = array.nbytes()};
  for (size_t k = 0; k < array.ndim(); ++k) out.shape.push_back(static_cast<int64_t>(array.shape(k)));
  held_.push_back(std::move(array));
  return out;
}

tenon::OutputBuffer MemoryReader::read(const MlDtypesArray& value, const std::string& place, const std::string& expected) {
  if (value.bits < 8)
    raise({tenon::Code::not_supported, place, "not supported yet: an array whose elements have fewer than 8 bits",
           "elements of 8 bits or more", std::string(tenon::name_of(value.dtype)), "leave it to the library"});
  WritableArray bytes;
  if (!nb::cast<bool>(value.array.attr("flags").attr("c_contiguous")) || !nb::try_cast(value.bytes(), bytes, false))
    refuse(value.array, place, expected);
  held_.push_back(bytes);
  return {.dtype = value.dtype, .shape = value.shape, .data = bytes.data(), .bytes = bytes.nbytes()};
}

}  // namespace tenon_python
