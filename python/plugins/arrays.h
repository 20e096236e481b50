// SPDX-License-Identifier: Apache-2.0
// What a function in Python computes on: arrays over the engine's memory.
#pragma once
#include <nanobind/nanobind.h>

#include <algorithm>
#include <vector>

#include "tenon/plugin.h"

namespace tenon::python {

namespace nb = nanobind;

enum class ArrayKind : uint8_t { numpy, torch };

/// A tensor of known sizes, whose memory may be elsewhere in each run.
struct Place {
  nb::object shape, dtype;  ///< as the array has them; null where the tensor is missing
  int64_t bytes = 0, elements = 0;
  int32_t type = -1;  ///< tenon_dtype
  std::vector<int64_t> sizes;

  bool is_of(const tenon_tensor& tensor) const {
    return tensor.dtype == type &&
           (type == TENON_NO_DTYPE || std::equal(sizes.begin(), sizes.end(), tensor.sizes, tensor.sizes + tensor.rank));
  }
};

/// Raises where the arrays have no such element type.
Place place_of(const tenon_tensor& tensor, ArrayKind kind);

/// An array over memory, as long as the memory may be used. The function that it is given must keep none of it.
class View {
 public:
  View(const Place& place, void* data, ArrayKind kind, bool writable);
  const nb::object& array() const { return array_; }
  /// Lets go of it. false: somebody else still has it.
  bool drop();

 private:
  nb::object memory_, array_;
};

/// Copies what a function returned to its place. Raises TypeError where its sizes or its dtype are not those of the place.
void copy_to(const Place& place, void* data, nb::handle value, ArrayKind kind, const char* result);

}  // namespace tenon::python
