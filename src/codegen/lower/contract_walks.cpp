// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/contract_walks.h"

namespace tenon::codegen {

std::vector<Walk> contract_walks(const Group& group, const Tiling& tiling, const std::vector<Dim>& tasks,
                                 const std::vector<ArrayId>& arguments, const Plan& plan) {
  const Contraction& c = tiling.roles;
  const Nest& nest = group.nests[0];
  const std::vector<int> rows = axes_of(c.rows);
  std::vector<TaskAxis> over{{.axes = rows, .extent = tasks.front(), .in_parts = true}};
  for (const JointAxis& b : c.batch) over.push_back({b.axes, b.extent});
  over.push_back({axes_of(c.lanes), tasks[tasks.size() - 2]});
  over.push_back({rows, tasks.back()});
  Walks walks(plan, std::move(over));
  for (const int k : c.rows_operand.accesses) walks.add(nest.accesses[k].array, tiling.rows, nest, Walk::kAll, false);
  if (!tiling.with_epilogue) {
    walks.add(nest.outputs[0].array, tiling.results[0], nest, Walk::kAll, true);
    return walks.of(arguments);
  }
  const Nest& map = group.epilogue->map;
  for (size_t k = 0; k < map.outputs.size(); ++k) walks.add(map.outputs[k].array, tiling.results[k], nest, Walk::kAll, true);
  for (size_t k = 0; k < map.accesses.size(); ++k)
    if (tiling.reads[k].column < 0) walks.add(map.accesses[k].array, tiling.reads[k].place, nest, Walk::kAll, false);
  return walks.of(arguments);
}

}  // namespace tenon::codegen
