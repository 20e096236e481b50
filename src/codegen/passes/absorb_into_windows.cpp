// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/absorb_into_windows.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"
#include "codegen/analysis/readers.h"
#include "codegen/analysis/window_sum.h"

namespace tenon::codegen {

namespace {

/// The one access of the map that reads the array, element by element; -1: there is none, or several.
int own_read(const Nest& map, ArrayId array, const Plan& plan) {
  int found = -1;
  for (int k = 0; k < static_cast<int>(map.accesses.size()); ++k) {
    if (map.accesses[k].array != array) continue;
    if (found >= 0 || !reads_own_element(map.accesses[k], map, plan)) return -1;
    found = k;
  }
  return found;
}

/// Whether the epilogue stores neighbouring channels next to each other, as they are in registers.
bool stores_channels_together(const Epilogue& epilogue, const Nest& nest, const WindowSum& sum, const Plan& plan) {
  const auto places = epilogue_places(epilogue, nest, plan);
  return places && places->results[0].coefficients[sum.channels] == Dim(1);
}

}  // namespace

void absorb_into_windows(Plan& plan) {
  Readers readers(plan);
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& sum = plan.groups[g];
    if (sum.kind() != GroupKind::nests || sum.nests.size() != 1 || sum.epilogue) continue;
    const auto window = window_sum_of(sum.nests[0], plan);
    if (!window) continue;
    const ArrayId made = sum.nests[0].outputs[0].array;
    if (readers.is_output(made) || readers.of(made).size() != 1 || readers.writers(made) != 1) continue;
    const size_t r = *readers.of(made).begin();
    const Group& reader = plan.groups[r];
    if (r <= g || reader.kind() != GroupKind::nests || reader.nests.size() != 1 || !is_map(reader.nests[0])) continue;
    const int access = own_read(reader.nests[0], made, plan);
    if (access < 0 || readers.writers(reader.nests[0].outputs[0].array) != 1) continue;
    Group merged = plan.groups[g];
    merged.epilogue = Epilogue{plan.groups[r].nests[0], access};
    if (!stores_channels_together(*merged.epilogue, sum.nests[0], *window, plan)) continue;
    readers.remove(g);
    readers.remove(r);
    plan.groups[r] = std::move(merged);
    plan.groups[g] = Group{};
    readers.add(r);
  }
  std::erase_if(plan.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
}

}  // namespace tenon::codegen
