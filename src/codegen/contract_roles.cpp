// SPDX-License-Identifier: Apache-2.0
#include "codegen/contract_roles.h"

#include <algorithm>

#include "codegen/inline.h"
#include "codegen/schedule.h"

namespace tenon::codegen {

namespace {

/// Which operand goes along the lanes: a constant one (its panels are packed at build time) if the result is contiguous along one of
/// its own axes, else the one whose own axis the result is contiguous along, else any that has an own axis.
int lanes_operand_of(const Nest& nest, const Plan& plan, const std::vector<Affine>& operands, const Affine& result) {
  int best = -1, best_score = 0;
  for (int side = 0; side < 2; ++side) {
    int score = 0;
    for (size_t x = 0; x < nest.axes.size(); ++x) {
      const bool own = !(operands[side].coefficients[x] == Dim(0)) && operands[1 - side].coefficients[x] == Dim(0);
      if (!own || nest.axes[x].kind != ops::Axis::Kind::parallel || nest.axes[x].extent == Dim(1)) continue;
      score = std::max(score, result.coefficients[x] == Dim(1) ? 4 : 1);
    }
    if (score == 0) continue;
    if (plan.arrays[nest.accesses[side].array].constant) score += 2;
    if (score > best_score || (score == best_score && side == 1)) best = side, best_score = score;
  }
  return best;
}

/// Larger steps first; by insertion, since symbolic steps are only partly ordered.
void sort_by_step(std::vector<JointAxis>& list, const Affine& place) {
  auto step = [&](const JointAxis& a) { return place.coefficients[a.axes[0]]; };
  for (size_t k = 1; k < list.size(); ++k)
    for (size_t at = k; at > 0 && step(list[at - 1]).less(step(list[at])).value_or(false); --at) std::swap(list[at - 1], list[at]);
}

}  // namespace

std::optional<ContractRoles> roles_of(const Nest& nest, const Plan& plan) {
  if (!is_sum_of_products(nest)) return std::nullopt;
  const int axes = static_cast<int>(nest.axes.size());
  std::vector<Affine> operands;
  for (const NestAccess& a : nest.accesses) {
    auto affine = affine_of(flat_of(a, plan), axes);
    if (!affine) return std::nullopt;
    operands.push_back(std::move(*affine));
  }
  auto result = affine_of(flat_of(nest.outputs[0], plan), axes);
  if (!result) return std::nullopt;
  ContractRoles roles;
  roles.lanes_operand = lanes_operand_of(nest, plan, operands, *result);
  if (roles.lanes_operand < 0) return std::nullopt;
  roles.rows_operand = 1 - roles.lanes_operand;
  for (int x = 0; x < axes; ++x) {
    if (nest.axes[x].extent == Dim(1)) continue;
    const bool in_rows = !(operands[roles.rows_operand].coefficients[x] == Dim(0));
    const bool in_lanes = !(operands[roles.lanes_operand].coefficients[x] == Dim(0));
    JointAxis axis{{x}, nest.axes[x].extent};
    if (nest.axes[x].kind == ops::Axis::Kind::reduced) {
      if (!in_rows || !in_lanes) return std::nullopt;
      roles.depth.push_back(axis);
    } else if (in_rows && in_lanes) {
      roles.batch.push_back(axis);
    } else if (in_rows) {
      roles.rows.push_back(axis);
    } else if (in_lanes) {
      roles.lanes.push_back(axis);
    } else {
      return std::nullopt;
    }
  }
  if (roles.depth.empty() || roles.lanes.empty()) return std::nullopt;
  // Nothing to share the lanes operand's panels: a depthwise convolution, or a vector times a matrix that is not packed.
  if (roles.rows.empty() && !plan.arrays[nest.accesses[roles.lanes_operand].array].constant) return std::nullopt;
  // The depth that the rows operand walks in the smallest steps comes innermost; likewise the lanes that the result does.
  sort_by_step(roles.depth, operands[roles.rows_operand]);
  sort_by_step(roles.lanes, *result);
  return roles;
}

void join_roles(ContractRoles& roles, const std::vector<Affine>& places) {
  auto joinable = [&](const JointAxis& outer, const JointAxis& inner) {
    return std::all_of(places.begin(), places.end(), [&](const Affine& p) {
      return p.coefficients[outer.axes.back()] == p.coefficients[inner.axes.back()] * inner.extent;
    });
  };
  for (std::vector<JointAxis>* list : {&roles.batch, &roles.rows, &roles.lanes, &roles.depth}) {
    for (size_t k = 0; k + 1 < list->size();) {
      JointAxis& outer = (*list)[k];
      JointAxis& inner = (*list)[k + 1];
      if (!joinable(outer, inner)) {
        ++k;
        continue;
      }
      outer.axes.insert(outer.axes.end(), inner.axes.begin(), inner.axes.end());
      outer.extent = outer.extent * inner.extent;
      list->erase(list->begin() + static_cast<long>(k) + 1);
    }
  }
}

}  // namespace tenon::codegen
