// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/measured_backend.h"

namespace tenon::compiler {

BackendsInUse at_costs(const BackendsInUse& of, std::span<const KnownCosts> known) {
  BackendsInUse out;
  out.listed = of.listed;
  out.kept = of.kept;
  for (size_t b = 0; b < of.all.size(); ++b) {
    out.kept.push_back(std::make_shared<MeasuredBackend>(*of.all[b], known[b]));
    out.all.push_back(out.kept.back().get());
  }
  return out;
}

}  // namespace tenon::compiler
