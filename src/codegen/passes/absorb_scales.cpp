// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/absorb_scales.h"

#include <algorithm>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/fixed_strides.h"
#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"
#include "codegen/analysis/readers.h"
#include "codegen/cost/contract_tiling.h"

namespace tenon::codegen {

namespace {

bool is_product_of_loads(const Group& g) {
  if (g.kind() != GroupKind::nests || g.nests.size() != 1 || g.epilogue || !is_map(g.nests[0])) return false;
  const Nest& map = g.nests[0];
  const Expr& value = map.outputs[0].value;
  return map.accesses.size() == 2 && value.op() == ExprOp::mul && value.dtype() == DType::f32 &&
         std::ranges::all_of(value.args(), [](const Expr& e) { return e.op() == ExprOp::input; });
}

/// Whether multiplying panels by the scale in each tile is faster than multiplying and storing the rows before.
bool pays(const Group& product, const Plan& plan) {
  const Contraction& c = *product.contraction();
  const Nest& nest = product.nests[0];
  const auto place_of = [&](int k) { return affine_of(flat_of(nest.accesses[k], plan), static_cast<int>(nest.axes.size())); };
  const auto scale = place_of(c.scale), read = place_of(c.rows_operand.accesses[0]);
  Dim rows = 1;
  for (const JointAxis& a : c.rows)
    if (scale->coefficients[a.axes[0]] == Dim(0)) rows = rows * a.extent;
  const auto lanes = extent_of(c.lanes).number();
  // Windows would multiply an element once for each window that reads it; and where the depth is strided in memory, a multiplied copy is
  // read faster.
  const bool is_single_use = c.depth.size() == 1 && read->coefficients[c.depth[0].axes[0]] == Dim(1);
  return is_single_use && !rows.less(plan.limits.min_scaled_rows).value_or(false) && lanes && *lanes <= plan.limits.max_scaled_lanes;
}

/// The product with the multiplication of the map in it; nullopt where that is not possible or slower.
std::optional<Group> scaled(const Group& product, const Group& map, size_t access, const Plan& plan) {
  Group out = product;
  if (inline_into(map.nests[0], out.nests[0], access, plan) != InlineResult::appended) return std::nullopt;
  if (!recompute_roles(out, plan) || out.contraction()->scale < 0 || !pays(out, plan)) return std::nullopt;
  return same_operands(*product.contraction(), *out.contraction()) && tiling_of(out, plan) ? std::optional(std::move(out)) : std::nullopt;
}

/// The number of the load of a product's rows operand; nullopt where the product reads that array by another load too.
std::optional<size_t> rows_access(const Group& g, const Plan& plan) {
  if (!g.contraction() || !g.contraction()->rows_operand.is_load()) return std::nullopt;
  const auto access = static_cast<size_t>(g.contraction()->rows_operand.accesses[0]);
  const ArrayId a = g.nests[0].accesses[access].array;
  const auto reads = [&](const Nest& n) { return std::ranges::count(n.accesses, a, &NestAccess::array); };
  const bool is_single_use = reads(g.nests[0]) + (g.epilogue ? reads(g.epilogue->map) : 0) == 1;
  return is_single_use && !plan.arrays[a].constant ? std::optional(access) : std::nullopt;
}

}  // namespace

void absorb_scales(Plan& plan) {
  const std::vector<bool> has_fixed = has_fixed_strides(plan);
  Readers readers(plan);
  std::vector<int64_t> map_of(plan.arrays.size(), -1);  // by array: the group of the product that computes it; -1: none
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    if (is_product_of_loads(plan.groups[g])) map_of[plan.groups[g].nests[0].outputs[0].array] = static_cast<int64_t>(g);
    const auto access = rows_access(plan.groups[g], plan);
    if (!access) continue;
    const ArrayId a = plan.groups[g].nests[0].accesses[*access].array;
    if (map_of[a] < 0 || has_fixed[a] || readers.of(a).size() != 1 || readers.writers(a) != 1) continue;
    Group& map = plan.groups[static_cast<size_t>(map_of[a])];
    auto merged = scaled(plan.groups[g], map, *access, plan);
    if (!merged) continue;
    plan.groups[g] = *std::move(merged);
    map = Group{};
  }
  std::erase_if(plan.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
}

}  // namespace tenon::codegen
