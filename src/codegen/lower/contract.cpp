// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/contraction.h"
#include "codegen/loops/inline.h"
#include "codegen/loops/operands.h"
#include "codegen/lower/contract_kernel.h"

namespace tenon::codegen {

namespace {

/// Loops without tiles: they run every sum.
Result<std::vector<Kernel>> lower_plainly(const Group& group, Plan& plan, const Target& target) {
  std::vector<Kernel> kernels;
  for (const Group& g : plain_groups(group))
    for (Kernel& k : TRY(lower_loops(g, default_loop_tactic(), plan, target))) kernels.push_back(std::move(k));
  return kernels;
}

/// The same with the rows operand stored where it is computed, and padded where it may leave its array. nullopt: it cannot be.
std::optional<Group> with_plain_rows(const Group& group, Plan& plan, std::vector<Nest>& before) {
  if (!group.contraction) return std::nullopt;
  Group out = group;
  if (!group.contraction->rows_operand.is_load()) {
    store_rows_operand(out.nests[0], *group.contraction, plan, before);
    if (!settle_contraction(out, plan) || !out.contraction->rows_operand.is_load()) return std::nullopt;
  }
  const int access = out.contraction->rows_operand.accesses[0];
  NestAccess& rows = out.nests[0].accesses[access];
  if (!rows.within) return out;
  const Nest whole = out.nests[0];
  if (!pad_operand(rows, whole, plan, before)) return std::nullopt;
  const auto roles = contraction_of(out.nests[0], plan);
  if (roles && roles->rows_operand.accesses[0] == access) out.contraction = roles;
  return out;
}

}  // namespace

Result<std::vector<Kernel>> lower_contract(const Group& given, const Tactic& tactic, Plan& plan, const Target& target) {
  std::vector<Nest> before;
  const auto group = with_plain_rows(given, plan, before);
  const auto tiling = group ? tiling_of(*group, plan) : std::nullopt;
  if (!tiling) return lower_plainly(given, plan, target);
  std::vector<Kernel> kernels;
  const Nest& nest = group->nests[0];
  // Panels must have the width that the lowering uses: registers x lanes.
  const int64_t panel = int64_t{tactic.tile.vectors} * target.lanes();
  const ArrayId packed = TRY(pack_operand(nest, tiling->roles, panel, plan, before));
  for (Nest& n : before) kernels.push_back(TRY(lower_nest(std::move(n), plan, target)));
  kernels.push_back(TRY(lower_tiles(*group, *tiling, packed, tactic, plan, target)));
  if (group->epilogue && !tiling->with_epilogue) kernels.push_back(TRY(lower_nest(group->epilogue->map, plan, target)));
  return kernels;
}

}  // namespace tenon::codegen
