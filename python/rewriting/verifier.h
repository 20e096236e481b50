// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "handles.h"
#include "rewrite/verify/verification.h"

namespace tenon::python {

/// tenon.rewriting's verifier: runs both sides of rewrites and compares the results. May be used by several runs, one at a time.
struct PyVerifier {
  explicit PyVerifier(const std::string& mode);
  rewrite::Verify mode;
  rewrite::Verifier verifier;
  bool busy = false;
};

/// In its scope (a run) no other run may use the verifier. Raises bad_usage where one does.
struct VerifierLock {
  explicit VerifierLock(PyVerifier& verifier);
  ~VerifierLock() { verifier.busy = false; }
  VerifierLock(const VerifierLock&) = delete;
  PyVerifier& verifier;
};

nb::dict dict_of(const rewrite::Verification& verification);
void bind_verifier(nb::module_& m);

}  // namespace tenon::python
