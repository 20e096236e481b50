// SPDX-License-Identifier: Apache-2.0
// What goes into an engine and comes out of it, in Python's types. Uses the public interface alone.
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

/// `none`: Tenon has no such element type.
tenon::DType dtype_of(nb::dlpack::dtype type);

/// "tensor", "sequence", "optional" or "map".
const char* name_of(tenon::ValueKind kind);
/// "f32[batch,16]", "seq(map(string,f32))"
std::string port_text(const tenon::Port& port);

/// What `run` is given, as arrays: numbers where they lie, texts copied; lists for sequences, None for an optional without element, a dict
/// for a map. Lives until the run is over.
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
  std::vector<AnyArray> held_;
};

/// A NumPy array that keeps the result's memory (texts: a copy, of Python's strings); a list of such for a sequence; None for an optional
/// without element; a dict for a map. Element types that NumPy lacks are those of ml_dtypes; where it is not installed, bf16 is a DLPack
/// capsule and others raise TenonError: not_supported.
nb::object numpy_of(const tenon::Array& array, const std::string& name);

}  // namespace tenon_python
