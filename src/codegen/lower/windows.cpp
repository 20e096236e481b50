// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/windows.h"

#include <algorithm>

#include "codegen/analysis/places.h"
#include "codegen/analysis/window_sum.h"
#include "codegen/lower/operands.h"
#include "codegen/lower/window_lowering.h"

namespace tenon::codegen {

Result<std::optional<Kernel>> lower_windows(const Group& group, const LoopTactic& tactic, Plan& plan, const Target& target) {
  if (group.nests.size() != 1 || tactic.lanes >= 0) return std::nullopt;
  auto sum = window_sum_of(group.nests[0], plan);
  if (!sum) return std::nullopt;
  Nest nest = group.nests[0];
  transpose_constants(nest, sum->channels, plan);
  const auto weights = affine_of(flat_of(nest.accesses[sum->weights], plan), static_cast<int>(nest.axes.size()));
  if (!weights || !(weights->coefficients[sum->channels] == Dim(1))) return std::nullopt;
  const Epilogue* epilogue = group.epilogue ? &*group.epilogue : nullptr;
  auto places = epilogue ? epilogue_places(*epilogue, nest, plan) : EpiloguePlaces{};
  if (!places || std::ranges::any_of(places->reads, [](const EpilogueRead& r) { return bool(r.loaded); })) return std::nullopt;
  Kernel kernel;
  WindowLowering lowering(kernel, plan, target, nest, *sum);
  lowering.set_epilogue(epilogue, std::move(*places));
  TRY(lowering.run(tactic.grain));
  if (group.region && lowering.runs_by(group.region->axes)) kernel.units = group.region->units;
  Dim points = 2;
  for (const ops::Axis& a : nest.axes) points = points * a.extent;
  kernel.flops = points;
  kernel.nodes = nest.nodes;
  if (epilogue) kernel.nodes.insert(kernel.nodes.end(), epilogue->map.nodes.begin(), epilogue->map.nodes.end());
  kernel.tactic = text_of(tactic);
  kernel.work.loops = {window_work(nest, sum->channels, lowering.loads_of_product())};
  if (epilogue) kernel.work.loops.push_back(epilogue_work(*epilogue, nest.axes[sum->channels].extent, plan));
  kernel.work.walks = lowering.walks();
  return kernel;
}

}  // namespace tenon::codegen
