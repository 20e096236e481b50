// SPDX-License-Identifier: Apache-2.0
#include "compiler/fallback_options.h"

#include <algorithm>

namespace tenon::compiler {

CompileOptions fallback_options(const CompileOptions& options, const BackendsInUse& backends) {
  CompileOptions out = options;
  const auto fallback = backends.all.begin() + backends.roles().fallback();
  out.backends.assign(fallback, backends.all.end());
  if (const backend::Backend& host = backend::host_of(backends.all); std::ranges::find(out.backends, &host) == out.backends.end())
    out.backends.push_back(&host);
  out.constraints = {};
  out.constraints.listed = 1;
  out.measuring = {};
  out.dump_plan = nullptr;
  out.progress = nullptr;
  return out;
}

}  // namespace tenon::compiler
