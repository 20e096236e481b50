// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/find_contractions.h"

#include <algorithm>

#include "codegen/analysis/contraction.h"

namespace tenon::codegen {

namespace {

/// Whether some axis has no steps, so that there is nothing to multiply: plain loops handle that.
bool empty(const Nest& nest) {
  return std::any_of(nest.axes.begin(), nest.axes.end(), [](const ops::Axis& a) { return a.extent == Dim(0); });
}

}  // namespace

void find_contractions(Plan& plan) {
  for (Group& g : plan.groups)
    if (g.kind() == GroupKind::nests && g.nests.size() == 1 && !empty(g.nests[0])) recompute_roles(g, plan);
}

}  // namespace tenon::codegen
