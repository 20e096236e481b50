// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/place_results.h"

#include <algorithm>
#include <optional>

#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/readers.h"

namespace tenon::codegen {

namespace {

/// For each axis of the view, the dimension of the array that it runs over; nullopt: the view is no permutation of the whole array.
std::optional<std::vector<size_t>> permutation_of(const Nest& view, const Plan& plan) {
  const NestAccess& from = view.accesses[0];
  if (from.flat || from.within || from.index.size() != view.axes.size()) return std::nullopt;
  std::vector<size_t> out(view.axes.size());
  std::vector<bool> has_axis(view.axes.size(), false);
  for (size_t d = 0; d < from.index.size(); ++d) {
    const Expr& e = from.index[d];
    if (e.op() != ExprOp::axis || has_axis[e->index]) return std::nullopt;
    if (!view.axes[e->index].extent.known_equal(plan.arrays[from.array].shape[d])) return std::nullopt;
    has_axis[e->index] = true;
    out[e->index] = d;
  }
  return out;
}

/// Lets attention write to the array to which the view would copy its result. Whether that is possible.
bool place(Group& attention, const Nest& view, const Plan& plan) {
  NestOutput& result = attention.nests[0].outputs[0];
  const auto dimensions = permutation_of(view, plan);
  if (!dimensions || result.flat || plan.arrays[view.outputs[0].array].same_bytes >= 0) return false;
  std::vector<Expr> index;
  for (const size_t d : *dimensions) index.push_back(result.index[d]);
  result.index = std::move(index);
  result.array = view.outputs[0].array;
  auto& nodes = attention.nests[0].nodes;
  nodes.insert(nodes.end(), view.nodes.begin(), view.nodes.end());
  return true;
}

}  // namespace

void place_results(Plan& plan) {
  Readers readers(plan);
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    Group& attention = plan.groups[g];
    if (attention.kind() != GroupKind::attention) continue;
    const ArrayId result = attention.nests[0].outputs[0].array;
    if (readers.is_output(result) || readers.of(result).size() != 1 || readers.writers(result) != 1) continue;
    const size_t reader = *readers.of(result).begin();
    Group& group = plan.groups[reader];
    if (group.kind() != GroupKind::nests || group.nests.size() != 1 || !is_view(group.nests[0])) continue;
    const Nest& view = group.nests[0];
    if (view.accesses[0].array != result || readers.writers(view.outputs[0].array) != 1 || !place(attention, view, plan)) continue;
    group.nests.clear();  // `readers` is not updated: the result has no other reader
  }
  std::erase_if(plan.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
}

}  // namespace tenon::codegen
