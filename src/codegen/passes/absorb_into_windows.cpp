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
    const ArrayId result = sum.nests[0].outputs[0].array;
    if (readers.is_output(result) || readers.of(result).size() != 1 || readers.writers(result) != 1) continue;
    const size_t reader_number = *readers.of(result).begin();
    const Group& reader = plan.groups[reader_number];
    if (reader_number <= g || reader.kind() != GroupKind::nests || reader.nests.size() != 1 || !is_map(reader.nests[0])) continue;
    const int access = own_read(reader.nests[0], result, plan);
    if (access < 0 || readers.writers(reader.nests[0].outputs[0].array) != 1) continue;
    Group merged = plan.groups[g];
    merged.epilogue = Epilogue{plan.groups[reader_number].nests[0], access};
    if (!stores_channels_together(*merged.epilogue, sum.nests[0], *window, plan)) continue;
    readers.remove(g);
    readers.remove(reader_number);
    plan.groups[reader_number] = std::move(merged);
    plan.groups[g] = Group{};
    readers.add(reader_number);
  }
  std::erase_if(plan.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
}

}  // namespace tenon::codegen
