// SPDX-License-Identifier: Apache-2.0
// Arrays over the engine's memory, which Python functions of plugins compute on.
#pragma once
#include <nanobind/nanobind.h>

#include <algorithm>
#include <vector>

#include "tenon/plugin.h"

namespace tenon::python {

namespace nb = nanobind;

enum class ArrayKind : uint8_t { numpy, torch };

/// Type and sizes of a tensor, whose memory may be at another address in each run.
struct TensorSpec {
  nb::object shape, dtype;  ///< of the array, as Python objects; null where the tensor is missing
  int64_t bytes = 0, elements = 0;
  int32_t type = -1;  ///< tenon_dtype
  std::vector<int64_t> sizes;

  bool is_of(const tenon_tensor& tensor) const {
    return tensor.dtype == type &&
           (type == TENON_NO_DTYPE || std::equal(sizes.begin(), sizes.end(), tensor.sizes, tensor.sizes + tensor.rank));
  }
};

/// The spec of a tensor. Raises where arrays of that kind lack the element type.
TensorSpec tensor_spec_of(const tenon_tensor& tensor, ArrayKind kind);

/// An array over memory of a call. The Python function that gets it must not keep a reference to it.
class ArrayView {
 public:
  ArrayView(const TensorSpec& spec, void* data, ArrayKind kind, bool writable);
  const nb::object& array() const { return array_; }
  /// Releases the array. False: something else still refers to it.
  bool release();

 private:
  nb::object memory_, array_;
};

/// Copies the value that a function returned to `data`. Raises TypeError where its sizes or dtype differ from the spec.
void copy_to(const TensorSpec& spec, void* data, nb::handle value, ArrayKind kind, const char* result);

}  // namespace tenon::python
