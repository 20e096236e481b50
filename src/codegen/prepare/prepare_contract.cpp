// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/contraction.h"
#include "codegen/analysis/in_blocks.h"
#include "codegen/analysis/padding.h"
#include "codegen/cost/contract_tiling.h"
#include "codegen/prepare/pack_operand.h"
#include "codegen/prepare/preparation.h"
#include "codegen/prepare/round_rows.h"
#include "codegen/prepare/single_group.h"
#include "codegen/prepare/store_rows.h"

namespace tenon::codegen {

namespace {

/// How the products of a contraction are taken.
enum class ProductOrder { groups, groups_in_order, one_by_one };

/// The roles of the nest as it is now. false: there are none.
bool settle(Group& group, ProductOrder order, const Plan& plan) {
  if (!recompute_roles(group, plan)) return false;
  if (order == ProductOrder::one_by_one) *group.contraction() = without_groups(std::move(*group.contraction()));
  return true;
}

/// The rows operand where a load finds it.
bool store_rows(SingleGroup& s, ProductOrder order) {
  const Contraction roles = *s.group.contraction();
  if (order == ProductOrder::groups_in_order) store_rows_in_order(s.group.nests[0], roles, s.plan, s.copies);
  else if (!roles.rows_operand.is_load()) store_rows_operand(s.group.nests[0], roles, s.plan, s.copies);
  else return true;
  return settle(s.group, order, s.plan) && s.group.contraction()->rows_operand.is_load();
}

/// The rows operand with its padding around it, where it may leave its array.
bool pad_rows(SingleGroup& s, ProductOrder order) {
  const int access = s.group.contraction()->rows_operand.accesses[0];
  NestAccess& rows = s.group.nests[0].accesses[access];
  if (!rows.within) return true;
  const Nest whole = s.group.nests[0];
  if (!pad_operand(rows, whole, s.plan, s.copies)) return false;
  Group padded = s.group;
  if (settle(padded, order, s.plan) && padded.contraction()->rows_operand.accesses[0] == access) s.group = std::move(padded);
  return true;
}

/// The contraction with its rows as tiles walk them; nullopt where they cannot walk them in that order.
std::optional<Tiling> fit(SingleGroup& s, ProductOrder order) {
  if (order == ProductOrder::one_by_one) *s.group.contraction() = without_groups(std::move(*s.group.contraction()));
  if (!store_rows(s, order) || !pad_rows(s, order)) return std::nullopt;
  auto tiling = tiling_of(s.group, s.plan);
  return tiling && walks_groups(*tiling) ? std::move(tiling) : std::nullopt;
}

/// The target has an instruction for the contraction's groups of products.
bool sums_groups(const Contraction& c, const Target& target) {
  const MultiplyAdd* form = target.multiply_add(c.rows_operand.value.dtype(), c.lanes_operand.value.dtype(), c.sum);
  return c.group > 1 && form && form->products == c.group && form->lanes == target.lanes();
}

/// Panels must have the width that the lowering uses: registers x lanes.
void pack_lanes(SingleGroup& s, const Tiling& tiling, const ContractTactic& tactic, const Target& target) {
  const LaneOrder order{int64_t{tactic.tile.vectors} * target.lanes(), tiling.columns, target.lanes()};
  auto& group = s.group.as<ContractGroup>();
  const auto blocks = tiling.roles.in_blocks ? pack_blocks(s.group.nests[0], tiling.roles, order, s.plan) : std::nullopt;
  if (blocks) group.panels = blocks->codes, group.scales = blocks->scales;
  else group.panels = pack_operand(s.group.nests[0], tiling.roles, order, s.plan, s.copies);
}

/// What has to run after the tiles.
std::optional<Group> take_epilogue(Group& group, const Tiling& tiling) {
  if (!group.epilogue || tiling.with_epilogue) return std::nullopt;
  Group out{.node = group.node};
  out.nests.push_back(std::move(group.epilogue->map));
  group.epilogue.reset();
  return out;
}

bool prepare_tiles(const Group& group, const ContractTactic& tactic, ProductOrder order, Preparation& to) {
  SingleGroup s(group, to.plan);
  const auto tiling = fit(s, order);
  if (!tiling) return false;
  pack_lanes(s, *tiling, tactic, to.target);
  s.move_to(to.plan);
  to.add_copies(std::move(s.copies), group.node);
  if (auto& product = s.group.as<ContractGroup>(); product.scales >= 0 && tiling->roles.activations != Activations::f32)
    product.rounded = round_rows(s.group, *tiling, *block_format_of(product.scales, to.plan), to);
  const std::optional<Group> after = take_epilogue(s.group, *tiling);
  to.add(std::move(s.group), tactic);
  if (after) prepare_loops(*after, default_loop_tactic(), to);
  return true;
}

}  // namespace

void prepare_contract(const Group& group, const ContractTactic& tactic, Preparation& to) {
  if (group.contraction()) {
    const bool grouped = sums_groups(*group.contraction(), to.target);
    for (const ProductOrder order : {ProductOrder::groups, ProductOrder::groups_in_order, ProductOrder::one_by_one})
      if ((grouped || order == ProductOrder::one_by_one) && prepare_tiles(group, tactic, order, to)) return;
  }
  for (const Group& g : plain_groups(group)) prepare_loops(g, default_loop_tactic(), to);
}

}  // namespace tenon::codegen
