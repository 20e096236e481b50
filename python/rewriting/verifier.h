// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "handles.h"
#include "rewrite/verify/verification.h"

namespace tenon::python {

/// Runs rewrites and what they replace, and compares; may serve several runs, one at a time.
struct PyVerifier {
  explicit PyVerifier(const std::string& mode);
  rewrite::Verify mode;
  rewrite::Verifier verifier;
  bool busy = false;
};

/// For the time of a run the verifier is nobody else's. Raises bad_usage where it is.
struct Borrowed {
  explicit Borrowed(PyVerifier& verifier);
  ~Borrowed() { verifier.busy = false; }
  Borrowed(const Borrowed&) = delete;
  PyVerifier& verifier;
};

nb::dict dict_of(const rewrite::Verification& verification);
void bind_verifier(nb::module_& m);

}  // namespace tenon::python
