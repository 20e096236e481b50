// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/contract_access_patterns.h"

namespace tenon::codegen {

std::vector<AccessPattern> contract_access_patterns(const Group& group, const Tiling& tiling, const std::vector<Dim>& tasks,
                                                    const std::vector<ArrayId>& arguments, const Plan& plan) {
  const Contraction& c = tiling.roles;
  const Nest& nest = group.nests[0];
  const std::vector<int> rows = axes_of(c.rows);
  std::vector<TaskAxis> over{{.axes = rows, .extent = tasks.front(), .in_parts = true}};
  for (const JointAxis& b : c.batch) over.push_back({b.axes, b.extent});
  over.push_back({axes_of(c.lanes), tasks[tasks.size() - 2]});
  over.push_back({rows, tasks.back()});
  AccessPatterns patterns(plan, std::move(over));
  for (const int k : c.rows_operand.accesses) patterns.add(nest.accesses[k].array, tiling.rows, nest, AccessPattern::kUnbounded, false);
  if (!tiling.with_epilogue) {
    patterns.add(nest.outputs[0].array, tiling.results[0], nest, AccessPattern::kUnbounded, true);
    return patterns.of(arguments);
  }
  const Nest& map = group.epilogue->map;
  for (size_t k = 0; k < map.outputs.size(); ++k)
    patterns.add(map.outputs[k].array, tiling.results[k], nest, AccessPattern::kUnbounded, true);
  for (size_t k = 0; k < map.accesses.size(); ++k)
    if (tiling.reads[k].column < 0) patterns.add(map.accesses[k].array, tiling.reads[k].place, nest, AccessPattern::kUnbounded, false);
  return patterns.of(arguments);
}

}  // namespace tenon::codegen
