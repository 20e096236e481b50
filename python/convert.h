// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <string_view>

#include "base/tensor.h"
#include "ir/attribute.h"
#include "ir/graph.h"

namespace tenon::python {

namespace nb = nanobind;

/// A NumPy array that shares the tensor's bytes (read-only); packed types are unpacked, strings become objects, sequences
/// lists, an optional without element None. Types that NumPy lacks need the package ml_dtypes. Raises not_supported.
nb::object numpy_of(const Tensor& tensor);
/// A copy of anything that numpy.asarray takes. `dtype`: the element type of the result; none: the array's own.
Tensor tensor_of(nb::handle array, DType dtype = DType::none);

/// The name of an element type in NumPy (and PyTorch), and its numpy.dtype. Both raise not_supported.
const char* numpy_name_of(DType dtype);
nb::object numpy_dtype_of(DType dtype);

nb::object python_of(const ir::Attribute& attribute);
/// A Python value as an attribute of the type in the op's schema (an int may become a float); of the value's own type where the schema
/// lacks the name.
ir::Attribute attribute_of(const ir::Op& op, std::string_view name, nb::handle value);
ir::Attributes attributes_of(const ir::Op& op, const nb::dict& values);
/// The op of a name: "Add", "com.microsoft::Gelu", or a name and a domain. Raises not_supported.
const ir::Op& op_named(const ir::OpTable& ops, std::string_view name, std::string_view domain = {});

/// The element type from "f32", "float32", a NumPy dtype, or ONNX's number; from None: none.
DType dtype_of(nb::handle dtype);
/// A shape as a tuple with one size for each dimension: an int, the text of a symbolic size, None where it is not known. None for an
/// unknown rank.
nb::object shape_of(const ir::Type& type);
ir::Type type_of(Symbols& symbols, nb::handle dtype, nb::handle shape);

}  // namespace tenon::python
