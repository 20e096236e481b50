// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/contraction.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/lower/contract_kernel.h"
#include "codegen/lower/operands.h"

namespace tenon::codegen {

namespace {

/// Loops without tiles: they run every sum.
Result<std::vector<Kernel>> lower_plainly(const Group& group, Plan& plan, const Target& target) {
  std::vector<Kernel> kernels;
  for (const Group& g : plain_groups(group))
    for (Kernel& k : TRY(lower_loops(g, default_loop_tactic(), plan, target))) kernels.push_back(std::move(k));
  return kernels;
}

/// How the products of a contraction are taken.
enum class ProductOrder { groups, groups_in_order, one_by_one };

/// A contraction as tiles walk it: the rows operand stored where it is computed, and padded where it may leave its array.
struct Prepared {
  Group group;
  std::vector<Nest> before = {};  ///< what stores the rows
  Tiling tiling = {};
};

/// The roles of the nest as it stands now. false: there are none.
bool settle(Group& group, ProductOrder way, const Plan& plan) {
  if (!settle_contraction(group, plan)) return false;
  if (way == ProductOrder::one_by_one) *group.contraction() = one_by_one(std::move(*group.contraction()));
  return true;
}

bool store_rows(Prepared& p, ProductOrder way, Plan& plan) {
  const Contraction roles = *p.group.contraction();
  if (way == ProductOrder::groups_in_order) store_rows_in_order(p.group.nests[0], roles, plan, p.before);
  else if (!roles.rows_operand.is_load()) store_rows_operand(p.group.nests[0], roles, plan, p.before);
  else return true;
  return settle(p.group, way, plan) && p.group.contraction()->rows_operand.is_load();
}

bool pad_rows(Prepared& p, ProductOrder way, Plan& plan) {
  const int access = p.group.contraction()->rows_operand.accesses[0];
  NestAccess& rows = p.group.nests[0].accesses[access];
  if (!rows.within) return true;
  const Nest whole = p.group.nests[0];
  if (!pad_operand(rows, whole, plan, p.before)) return false;
  Group padded = p.group;
  if (settle(padded, way, plan) && padded.contraction()->rows_operand.accesses[0] == access) p.group = std::move(padded);
  return true;
}

/// nullopt: it cannot be.
std::optional<Prepared> prepared(const Group& group, ProductOrder way, Plan& plan) {
  Prepared out{.group = group};
  if (way == ProductOrder::one_by_one) *out.group.contraction() = one_by_one(std::move(*out.group.contraction()));
  if (!store_rows(out, way, plan) || !pad_rows(out, way, plan)) return std::nullopt;
  auto tiling = tiling_of(out.group, plan);
  if (!tiling || !walks_groups(*tiling)) return std::nullopt;
  out.tiling = *std::move(tiling);
  return out;
}

std::optional<Prepared> prepared(const Group& group, Plan& plan, const Target& target) {
  if (!group.contraction()) return std::nullopt;
  const Contraction& c = *group.contraction();
  const MultiplyAdd* form = target.multiply_add(c.rows_operand.value.dtype(), c.lanes_operand.value.dtype(), c.sum);
  const bool grouped = c.group > 1 && form && form->products == c.group && form->lanes == target.lanes();
  const size_t arrays = plan.arrays.size();
  for (const ProductOrder way : {ProductOrder::groups, ProductOrder::groups_in_order, ProductOrder::one_by_one}) {
    if (!grouped && way != ProductOrder::one_by_one) continue;
    if (auto out = prepared(group, way, plan)) return out;
    plan.arrays.resize(arrays);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Kernel>> lower_contract(const Group& given, const ContractTactic& tactic, Plan& plan, const Target& target) {
  auto ready = prepared(given, plan, target);
  if (!ready) return lower_plainly(given, plan, target);
  const auto& [group, stored, tiling] = *ready;
  std::vector<Nest> before = stored;
  std::vector<Kernel> kernels;
  const Nest& nest = group.nests[0];
  // Panels must have the width that the lowering uses: registers x lanes.
  const int64_t panel = int64_t{tactic.tile.vectors} * target.lanes();
  const LaneOrder order{panel, tiling.columns, target.lanes()};
  const ArrayId packed = TRY(pack_operand(nest, tiling.roles, order, plan, before));
  for (Nest& n : before) kernels.push_back(TRY(lower_nest(std::move(n), plan, target)));
  kernels.push_back(TRY(lower_tiles(group, tiling, packed, tactic, plan, target)));
  if (group.epilogue && !tiling.with_epilogue) kernels.push_back(TRY(lower_nest(group.epilogue->map, plan, target)));
  return kernels;
}

}  // namespace tenon::codegen
