// SPDX-License-Identifier: Apache-2.0
// Arrays of the element types of ml_dtypes (bfloat16, float8_*, int4, ...), which NumPy and its buffer protocol lack.
#pragma once
#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

#include <optional>
#include <vector>

namespace tenon_python {

namespace nb = nanobind;

/// A NumPy array of a type of ml_dtypes.
struct MlDtypesArray {
  tenon::DType dtype = tenon::DType::none;
  int bits = 0;  ///< of an element as Tenon stores it; ml_dtypes stores one of fewer than 8 bits in a byte
  std::vector<int64_t> shape;
  nb::object array;

  /// The array's memory where it is C-contiguous, else that of a copy: u8[bytes].
  nb::object bytes() const;
  /// The elements as Tenon stores them, several to a byte, the first in its lowest bits. Only for bits < 8. Copies.
  tenon::Array packed() const;
};

/// The array of a type of ml_dtypes; nullopt for other values.
std::optional<MlDtypesArray> ml_dtypes_array(nb::handle value);

/// A NumPy array of a type of ml_dtypes: it keeps the memory of `array`; elements below 8 bits are copied. None: `array` has a type that
/// NumPy has, or the installed ml_dtypes, if any, lacks the type.
nb::object ml_dtypes_array_of(const tenon::Array& array);

}  // namespace tenon_python
