// SPDX-License-Identifier: Apache-2.0
#include "rewriting/verifier.h"

#include <nanobind/stl/string.h>

namespace tenon::python {
namespace {

rewrite::Verify mode_named(const std::string& name) {
  if (const auto mode = rewrite::verify_named(name)) return *mode;
  raise(fail(Code::bad_usage, "verify", "no mode of verification has this name").expected("off, first or all").found(name));
}

}  // namespace

PyVerifier::PyVerifier(const std::string& name) : mode(mode_named(name)), verifier(mode) {}

VerifierLock::VerifierLock(PyVerifier& v) : verifier(v) {
  if (v.busy) raise(fail(Code::bad_usage, "verify", "another run is using this verifier").advice("give each thread a Verifier of its own"));
  v.busy = true;
}

nb::dict dict_of(const rewrite::Verification& v) {
  nb::dict unverified;
  for (const auto& [rule, counts] : v.unverified) {
    nb::dict reasons;
    for (const auto& [reason, count] : counts) reasons[reason.c_str()] = count;
    unverified[rule.c_str()] = reasons;
  }
  nb::dict out;
  out["asked"] = v.rewrites;
  out["verified"] = v.verified;
  out["known"] = v.known;
  out["wrong"] = v.wrong;
  out["instances"] = v.instances;
  out["skipped"] = v.skipped;
  out["unverified"] = unverified;
  out["ms"] = v.ms;
  out["text"] = rewrite::text_of(v);
  return out;
}

void bind_verifier(nb::module_& m) {
  nb::class_<PyVerifier>(m, "Verifier")
      .def(nb::init<const std::string&>(), nb::arg("mode") = "first")
      .def_prop_ro("mode", [](const PyVerifier& v) { return std::string(rewrite::name_of(v.mode)); })
      .def_prop_ro("result",
                   [](const PyVerifier& v) {
                     if (v.busy) raise(fail(Code::bad_usage, "verifier", "a run is using this verifier"));
                     return dict_of(v.verifier.result());
                   })
      .def("__repr__", [](const PyVerifier& v) { return "<Verifier " + std::string(rewrite::name_of(v.mode)) + ">"; });
}

}  // namespace tenon::python
