// SPDX-License-Identifier: Apache-2.0
// Conversion of inputs and results of engines from and to Python's types. Uses the public interface alone.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <tenon/tenon.h>

#include <span>
#include <string>
#include <vector>

namespace tenon_python {

namespace nb = nanobind;

struct MlDtypesArray;

/// tenon.TenonError with the error's parts as attributes.
[[noreturn]] void raise(const tenon::Error& error);

/// The element type; `none` where Tenon lacks it.
tenon::DType dtype_of(nb::dlpack::dtype type);

/// "tensor", "sequence", "optional" or "map".
const char* name_of(tenon::ValueKind kind);
/// "f32[batch,16]", "seq(map(string,f32))"
std::string port_text(const tenon::Port& port);

/// Converts the inputs of a run to arrays: views of numbers, copies of strings; lists for sequences, None for an optional without element,
/// a dict for a map. Must live until the run has ended.
class InputReader {
 public:
  explicit InputReader(std::span<const tenon::Port> inputs) : inputs_(inputs) {}
  /// Raises TenonError: bad_input.
  tenon::Array read(const nb::handle& value, const std::string& name);

 private:
  using AnyArray = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>;

  tenon::Array of_kind(const nb::handle& value, tenon::ValueKind kind);
  tenon::Array sequence(const nb::handle& value);
  tenon::Array map(const nb::handle& value);
  tenon::Array maps(const nb::handle& value);
  tenon::Array listed(const nb::list& items, tenon::DType dtype);
  tenon::Array tensor(const nb::handle& value);
  tenon::Array tensor(const MlDtypesArray& value);
  tenon::Array texts(const nb::handle& value);
  [[noreturn]] void refuse(const nb::handle& value, std::string what, std::string advice) const;

  std::span<const tenon::Port> inputs_;
  const tenon::Port* port_ = nullptr;
  std::string name_;
  std::vector<AnyArray> held_;  ///< owners of the memory of views
};

/// A NumPy array that keeps the result's memory (texts: a copy, of Python's strings); a list of such for a sequence; None for an optional
/// without element; a dict for a map. Element types that NumPy lacks are those of ml_dtypes; where it is not installed, bf16 is a DLPack
/// capsule and others raise TenonError: not_supported.
nb::object numpy_of(const tenon::Array& array, const std::string& name);

}  // namespace tenon_python
