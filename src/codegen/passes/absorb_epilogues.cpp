// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/absorb_epilogues.h"

#include <algorithm>
#include <map>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/readers.h"

namespace tenon::codegen {

namespace {

/// Moves the contraction to the map's place, with the map (and an earlier epilogue inside it) as its epilogue.
bool absorb(Plan& plan, size_t contraction, size_t map_group, size_t access) {
  Group& map = plan.groups[map_group];
  Group merged = plan.groups[contraction];
  if (merged.epilogue) {
    const Epilogue inner = *merged.epilogue;
    Nest joined = map.nests[0];
    if (inline_into(inner.map, joined, access, plan) != InlineResult::appended || !within_budget(joined)) return false;
    const int kept = static_cast<int>(map.nests[0].accesses.size()) - 1;
    merged.epilogue = Epilogue{std::move(joined), kept + inner.accumulator};
  } else {
    merged.epilogue = Epilogue{map.nests[0], static_cast<int>(access)};
  }
  merged.node = map.node;
  map = std::move(merged);
  plan.groups[contraction] = Group{};
  return true;
}

/// Both groups as they were before the last map was absorbed.
struct LastStep {
  Group contraction, map;
};

/// Whether the map is cheap and its result larger than its operand (integers that are converted to floats). Less is stored where readers
/// evaluate it.
bool widens_cheaply(const Nest& map, const Plan& plan) {
  const BodyCost cost = cost_of(map);
  return map.accesses.size() == 1 && bits_of(map.outputs[0].dtype) > bits_of(plan.arrays[map.accesses[0].array].dtype) &&
         cost.transcendental == 0 && cost.arithmetic <= 3;
}

/// Whether readers may evaluate the array's map: it is not visible outside, and no product reads it.
bool is_left_to_readers(ArrayId array, const Plan& plan, const Readers& readers) {
  if (readers.is_output(array) || plan.arrays[array].fixed_layout || readers.of(array).empty()) return false;
  return std::ranges::all_of(readers.of(array), [&](size_t g) {
    const Group& group = plan.groups[g];
    const auto reads = [&](const Nest& n) {
      return std::ranges::any_of(n.accesses, [&](const NestAccess& a) { return a.array == array; });
    };
    return group.kind() == GroupKind::nests || (group.kind() == GroupKind::contract && !reads(group.nests[0]));
  });
}

/// Undoes the last absorbed map of a contraction where its readers should evaluate it.
void undo_widening_maps(Plan& plan, std::map<size_t, LastStep> last, const Readers& readers) {
  std::vector<Group> groups;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const auto step = last.find(g);
    if (step == last.end() || !is_left_to_readers(step->second.map.nests[0].outputs[0].array, plan, readers)) {
      groups.push_back(std::move(plan.groups[g]));
      continue;
    }
    groups.push_back(std::move(step->second.contraction));
    groups.push_back(std::move(step->second.map));
  }
  plan.groups = std::move(groups);
}

}  // namespace

void absorb_epilogues(Plan& plan) {
  Readers readers(plan);
  std::map<size_t, LastStep> last;
  std::vector<int64_t> contraction(plan.arrays.size(), -1);  // the group that makes the array, where it is one
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    Group& group = plan.groups[g];
    if (group.kind() == GroupKind::contract) contraction[group.nests[0].outputs[0].array] = static_cast<int64_t>(g);
    if (group.kind() != GroupKind::nests || group.nests.size() != 1 || !is_map(group.nests[0]) || is_view(group.nests[0])) continue;
    const Nest& map = group.nests[0];
    for (size_t k = 0; k < map.accesses.size(); ++k) {
      const ArrayId a = map.accesses[k].array;
      if (contraction[a] < 0 || readers.is_output(a) || readers.of(a).size() != 1 || readers.writers(map.outputs[0].array) != 1) continue;
      const bool once = std::count_if(map.accesses.begin(), map.accesses.end(), [&](const NestAccess& x) { return x.array == a; }) == 1;
      if (!once || !reads_own_element(map.accesses[k], map, plan)) continue;
      const size_t from = static_cast<size_t>(contraction[a]);
      const std::optional<LastStep> step = widens_cheaply(map, plan) ? std::optional(LastStep{plan.groups[from], group}) : std::nullopt;
      readers.remove(from);
      readers.remove(g);
      const bool done = absorb(plan, from, g, k);
      readers.add(from);
      readers.add(g);
      if (!done) continue;
      last.erase(from);
      if (step) last.emplace(g, std::move(*step));
      contraction[a] = -1;
      contraction[plan.groups[g].epilogue->map.outputs[0].array] = static_cast<int64_t>(g);
      break;
    }
  }
  undo_widening_maps(plan, std::move(last), readers);
  std::erase_if(plan.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
}

}  // namespace tenon::codegen
