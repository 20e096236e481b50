// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/c/calls.h"

namespace tenon::inline v1 {

/// The inputs in a caller's list in the order of the ports, empty where a port's default is used. Views, but strings are copied. Errors:
/// bad_usage (a null pointer, a bad struct, an array given twice), bad_input (a name, dtype, rank or size; an input that is missing),
/// not_supported (a container).
base::Result<std::vector<Array>> inputs_of(const tenon_array* list, size_t count, std::span<const Port> ports);

/// Where a result is written: nowhere (null data), or to memory of the caller.
struct Destination {
  OutputBuffer buffer;
  bool has_shape = false;  ///< false: a result of any shape that fits the bytes is accepted
};
/// One destination for each port. Errors: those of inputs_of().
base::Result<std::vector<Destination>> destinations_of(const tenon_array* list, size_t count, std::span<const Port> ports);

/// The memory into which a state is copied. argument: its name, for errors. Errors: bad_usage, bad_input.
base::Result<OutputBuffer> buffer_of(const tenon_array* memory, const char* argument);

/// A value as an array of the C interface. strings: receives its elements where they are strings. Errors: not_supported for a container.
base::Result<tenon_array> c_array_of(const Array& array, const char* name, std::vector<tenon_string>& strings);

}  // namespace tenon::inline v1
