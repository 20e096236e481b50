// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/contract_kernel.h"

namespace tenon::codegen {

Result<Kernel> lower_contract(const Group& group, const ContractTactic& tactic, const Plan& plan, const Target& target) {
  const ArrayId panels = group.as<ContractGroup>().panels;
  const auto tiling = tiling_of(group, plan);
  TENON_ASSERT(panels >= 0 && tiling);
  return lower_tiles(group, *tiling, panels, tactic, plan, target);
}

}  // namespace tenon::codegen
