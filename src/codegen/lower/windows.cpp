// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/windows.h"

#include <algorithm>

#include "codegen/analysis/places.h"
#include "codegen/lower/window_lowering.h"

namespace tenon::codegen {

namespace {

std::optional<EpiloguePlaces> places_of_epilogue(const Group& group, const Plan& plan) {
  auto places = group.epilogue ? epilogue_places(*group.epilogue, group.nests[0], plan) : EpiloguePlaces{};
  if (!places || std::ranges::any_of(places->reads, [](const EpilogueRead& r) { return bool(r.loaded); })) return std::nullopt;
  return places;
}

}  // namespace

std::optional<WindowSum> window_of(const Group& group, const LoopTactic& tactic, const Plan& plan) {
  if (group.nests.size() != 1 || tactic.lanes >= 0) return std::nullopt;
  auto sum = window_sum_of(group.nests[0], plan);
  return sum && places_of_epilogue(group, plan) ? sum : std::nullopt;
}

bool are_weights_channels_last(const Nest& nest, const WindowSum& sum, const Plan& plan) {
  const auto weights = affine_of(flat_of(nest.accesses[sum.weights], plan), static_cast<int>(nest.axes.size()));
  return weights && weights->coefficients[sum.channels] == Dim(1);
}

Result<std::optional<Kernel>> lower_windows(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target) {
  const auto sum = window_of(group, tactic, plan);
  const Nest& nest = group.nests[0];
  if (!sum || !are_weights_channels_last(nest, *sum, plan)) return std::nullopt;
  const Epilogue* epilogue = group.epilogue ? &*group.epilogue : nullptr;
  Kernel kernel;
  WindowLowering lowering(kernel, plan, target, nest, *sum);
  lowering.set_epilogue(epilogue, *places_of_epilogue(group, plan));
  TRY(lowering.run(tactic.grain));
  if (group.region && lowering.has_leading_task_axes(group.region->axes)) kernel.units = group.region->units;
  Dim points = 2;
  for (const ops::Axis& a : nest.axes) points = points * a.extent;
  kernel.flops = points;
  kernel.nodes = nest.nodes;
  if (epilogue) kernel.nodes.insert(kernel.nodes.end(), epilogue->map.nodes.begin(), epilogue->map.nodes.end());
  kernel.tactic = text_of(tactic);
  kernel.work.loops = {window_work(nest, sum->channels, lowering.loads_of_product())};
  if (epilogue) kernel.work.loops.push_back(epilogue_work(*epilogue, nest.axes[sum->channels].extent, plan));
  kernel.work.access_patterns = lowering.access_patterns();
  return kernel;
}

}  // namespace tenon::codegen
