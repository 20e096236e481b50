// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "codegen/analysis/contraction.h"

namespace tenon::codegen {

/// Joins neighbours that every place walks as one.
static void join_neighbours(std::vector<JointAxis>& list, const std::vector<Affine>& places) {
  for (size_t k = 0; k + 1 < list.size();) {
    JointAxis &outer = list[k], &inner = list[k + 1];
    const bool as_one = std::ranges::all_of(
        places, [&](const Affine& p) { return p.coefficients[outer.axes.back()] == p.coefficients[inner.axes.back()] * inner.extent; });
    if (!as_one) {
      ++k;
      continue;
    }
    outer.axes.insert(outer.axes.end(), inner.axes.begin(), inner.axes.end());
    outer.extent = outer.extent * inner.extent;
    list.erase(list.begin() + static_cast<long>(k) + 1);
  }
}

void join_roles(Contraction& roles, const std::vector<Affine>& places) {
  for (std::vector<JointAxis>* list : {&roles.batch, &roles.rows, &roles.lanes, &roles.depth}) join_neighbours(*list, places);
}

}  // namespace tenon::codegen
