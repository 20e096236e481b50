// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/c/calls.h"

namespace tenon::inline v1 {

/// What a list of the caller's says of inputs: one a port, an empty one where a default is taken. Views, but for strings. Errors: bad_usage
/// (a null pointer, a bad struct, an array given twice), bad_input (a name, dtype, rank or size; an input that is missing), not_supported
/// (a container).
base::Result<std::vector<Array>> inputs_of(const tenon_array* list, size_t count, std::span<const Port> ports);

/// Where a result goes: nowhere (null data), or into memory of the caller's.
struct Destination {
  OutputBuffer buffer;
  bool has_shape = false;  ///< else any result that fits is taken
};
/// One a port. Errors: as inputs_of().
base::Result<std::vector<Destination>> destinations_of(const tenon_array* list, size_t count, std::span<const Port> ports);

/// Memory for a state. Errors: bad_usage, bad_input.
base::Result<OutputBuffer> buffer_of(const tenon_array* memory, const char* argument);

/// A value as callers in C see it. strings: receives its elements where they are strings. Errors: not_supported for a container.
base::Result<tenon_array> c_array_of(const Array& array, const char* name, std::vector<tenon_string>& strings);

}  // namespace tenon::inline v1
