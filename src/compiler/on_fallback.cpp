// SPDX-License-Identifier: Apache-2.0
#include "compiler/on_fallback.h"

#include <algorithm>
#include <iterator>

namespace tenon::compiler {

CompileOptions on_fallback(const CompileOptions& options, const BackendsInUse& backends) {
  CompileOptions out = options;
  const auto fallback = backends.all.begin() + backends.roles().fallback();
  out.backends.assign(fallback, backends.all.end());
  std::copy_if(backends.all.begin(), fallback, std::back_inserter(out.backends),
               [](const backend::Backend* b) { return b->makes_kernels(); });
  out.constraints = {};
  out.constraints.listed = 1;
  out.measuring = {};
  out.dump_plan = nullptr;
  out.progress = nullptr;
  return out;
}

}  // namespace tenon::compiler
