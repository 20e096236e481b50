// SPDX-License-Identifier: Apache-2.0
// Memory of arrays that runs write: results and states. Includes the public interface alone.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <tenon/tenon.h>

#include <string>
#include <vector>

namespace tenon_python {

struct MlDtypesArray;

/// Reads the memory of writable, C-contiguous arrays, and holds references to these.
class MemoryReader {
 public:
  /// place, expected: for errors. Raises TenonError: bad_input, not_supported.
  tenon::OutputBuffer read(const nanobind::handle& value, const std::string& place, const std::string& expected);

 private:
  using WritableArray = nanobind::ndarray<nanobind::device::cpu, nanobind::c_contig>;
  tenon::OutputBuffer read(const MlDtypesArray& value, const std::string& place, const std::string& expected);
  std::vector<WritableArray> held_;
};

}  // namespace tenon_python
