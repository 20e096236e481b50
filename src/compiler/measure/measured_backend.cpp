// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/measured_backend.h"

namespace tenon::compiler {

BackendsInUse with_known_costs(const BackendsInUse& backends, std::span<const KnownCosts> known) {
  BackendsInUse out;
  out.listed = backends.listed;
  out.owned = backends.owned;
  for (size_t b = 0; b < backends.all.size(); ++b) {
    out.owned.push_back(std::make_shared<MeasuredBackend>(*backends.all[b], known[b]));
    out.all.push_back(out.owned.back().get());
  }
  return out;
}

}  // namespace tenon::compiler
